"""Directed edges on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command

pytest.importorskip("pyarrow")

FILES = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--label", "topic")
QUICK = ("--strategy", "none", "--set", "epochs=5", "--runs", "1")


def write_tables(folder: Path, *, both: bool = False, nodes: int = 30) -> None:
    rows = [f"n{k},{k % 2 + k % 5 / 10},{'ab'[k % 2]}" for k in range(nodes)]
    ends = [(k, (k + 2) % nodes) for k in range(nodes)] + [(2, 0), (4, 2)]
    ends += [(b, a) for a, b in ends] if both else []
    (folder / "nodes.csv").write_text("\n".join(["id,size,topic", *rows]) + "\n")
    (folder / "edges.csv").write_text("a,b\n" + "".join(f"n{u},n{v}\n" for u, v in ends))


def test_a_directed_graph_is_described_and_trained_one_way(ppro: Command, workplace: Path) -> None:
    write_tables(workplace)
    described = ppro("data", "describe", *FILES)
    assert "one way edges         0.875" in described.out
    told = "28 edges (88%) have no opposite one"
    assert told in " ".join(described.out.split())
    ended = ppro("train", *FILES, *QUICK, "--set", "direction=in", "--out", "run")
    assert ended.status == 0, ended.err
    assert told in " ".join((ended.out + ended.err).split())
    assert 'direction = "in"' in (workplace / "run" / "settings.toml").read_text(encoding="utf-8")
    before = (workplace / "run" / "nodes.csv").read_text(encoding="utf-8")
    ended = ppro("predict", "run", *FILES[:4], "--out", "again.csv")
    assert ended.status == 0, ended.err
    first, again = (text.splitlines()[1] for text in (before, Path("again.csv").read_text()))
    assert first.split(",")[0] == again.split(",")[0] == "n0"
    assert ppro("train", *FILES, *QUICK, "--out", "other").status == 0
    assert "direction" not in (workplace / "other" / "settings.toml").read_text(encoding="utf-8")


def test_edges_without_a_direction_are_refused(ppro: Command, workplace: Path) -> None:
    write_tables(workplace, both=True)
    words = ("train", *FILES, *QUICK, "--set", "direction=in")
    ended = ppro(*words)
    assert ended.status == 2
    assert "its edges have no direction, so direction=in" in ended.err.splitlines()[-1]
    assert "direction" in ppro(*words[:-1], "direction=up").error
    write_tables(workplace)
    assert "h2gcn pairs nodes" in ppro("train", *FILES, "--model", "h2gcn", *words[-2:]).error
