"""Options of a graph and splits with few labels, on the command line and in the run folder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from ppro.data import load_graph, make_splits, with_noise
from ppro.runs.opening import open_run
from ppro.runs.source import graph_of_run
from tests.cli.conftest import QUICK, Command

SMALL = ("csbm", "--option", "nodes=90", "--option", "features=6")


def test_a_run_with_noise_is_opened_with_the_same_graph(ppro: Command, workplace: Path) -> None:
    assert ppro("train", *SMALL, "--option", "noise=0.5", *QUICK, "--out", "run").status == 0
    graph, _ = graph_of_run(open_run(workplace / "run"))
    wanted = load_graph("csbm", options={"nodes": 90, "features": 6, "noise": 0.5})
    assert torch.equal(graph.edge_index, wanted.edge_index)
    for command in (("report", "run"), ("explain", "run", "3"), ("predict", "run")):
        assert ppro(*command).status == 0
    assert "noise" in (workplace / "run/report.html").read_text(encoding="utf-8")


def test_files_take_noise_too(ppro: Command, workplace: Path) -> None:
    assert ppro("data", "export", *SMALL, "--out", ".").status == 0
    files = ("--nodes", "nodes.csv", "--edges", "edges.csv")
    assert ppro("train", *files, "--option", "noise=0.3", *QUICK, "--out", "run").status == 0
    assert ppro("train", *files, *QUICK, "--out", "clean").status == 0
    noised, clean = (graph_of_run(open_run(workplace / run))[0] for run in ("run", "clean"))
    assert torch.equal(noised.edge_index, with_noise(clean, 0.3).edge_index)
    assert not torch.equal(noised.edge_index, clean.edge_index)
    assert ppro("explain", "run", "3").status == 0
    plain, loud = (
        ppro("data", "describe", *files, *more).out for more in ((), ("--option", "noise=1"))
    )
    assert "edge homophily" in plain
    assert plain != loud
    assert ppro("train", *files, "--option", "nodes=5").error.endswith(
        "unknown option 'nodes'; did you mean 'noise'?"
    )


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("noise=2", "csbm: noise is 2, expected a number from 0 to 1"),
        ("noise=loud", "csbm: noise is loud, expected a number from 0 to 1"),
        ("noise", "--option noise: expected key=value, for example --option homophily=0.2"),
        ("noise=", "--option noise=: expected key=value, for example --option homophily=0.2"),
    ],
)
def test_wrong_options(ppro: Command, word: str, told: str) -> None:
    assert ppro("train", "csbm", "--option", word).error == told


def test_a_split_with_few_labels(ppro: Command, workplace: Path) -> None:
    assert ppro("train", *SMALL, "--split", "3-per-class", *QUICK, "--out", "run").status == 0
    graph, splits = graph_of_run(open_run(workplace / "run"))
    assert torch.equal(splits.train, make_splits(graph, "csbm", "3-per-class", 2, 0).train)
    assert splits.train.sum(1).tolist() == [12, 12]
    assert ppro("predict", "run").status == 0
    told = ppro("train", *SMALL, "--split", "50-per-class", *QUICK).error
    assert told.startswith("split 50-per-class: 23 labelled in class 0")
    assert "it has random-60-20-20, N-per-class" in ppro("train", *SMALL, "--split", "x").error
