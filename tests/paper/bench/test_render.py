import json
from pathlib import Path
from typing import Any

import pytest

from ppro.errors import RunError
from ppro.paper.bench.render import draw, page, read_reports


def row(**changes: Any) -> dict[str, Any]:
    base = {"graph": "cora", "edges": 5278, "form": "class", "max_steps": 10, "strategy": "l2b"}
    times = {"runs": 1, "threads": 1, "rounds": 3, "ours_ms": 2.0, "peer_ms": 8.0, "ratio": 0.25}
    return {**base, **times, **changes}


REPORT = {
    "machine": {"device": "cpu", "name": "a machine", "cores": 2, "versions": {"ppro": "0.1.0"}},
    "epochs": [
        row(),
        row(runs=10, ours_ms=3.0),
        row(graph="1m-edges", edges=100, ours_ms=1.0),
        row(graph="10m-edges", edges=1000, ours_ms=15.0),
    ],
    "memory_mib": {"4": 100.0, "64": 103.0},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "here.json").write_text(json.dumps(REPORT), encoding="utf-8")
    return tmp_path


def test_the_page_holds_every_row_and_the_ratios(folder: Path) -> None:
    text = page(read_reports(folder), "chart.png")
    assert text.count("| cora | class | 10 | l2b |") == 2
    assert "- 10 runs / 1 run, cora, class, L = 10, l2b: 1.50" in text
    assert "10 million / 1 million edges, l2b: 1.50" in text
    assert "64 / 4: 1.030" in text
    assert "(chart.png)" in text


def test_what_judges_cost_is_told_relative_to_the_peer() -> None:
    paper, train = row(), row(judges="train", ratio=0.2)
    folds = row(judges="folds", ratio=0.5, peer_ms=16.0)
    text = page({"here": {**REPORT, "epochs": [paper, train, folds]}}, "chart.png")
    assert "| cora | class | 10 | l2b, judges folds |" in text
    assert "- an epoch, judges folds / judges train, cora, class, l2b: 2.50" in text
    assert "- an epoch, judges folds / the paper's controllers, cora, class, l2b: 2.00" in text
    assert "judges folds /" not in page({"here": {**REPORT, "epochs": [folds]}}, "chart.png")


def test_reports_of_other_kinds_lie_beside_those_of_speed(folder: Path) -> None:
    (folder / "large.json").write_text(json.dumps({"machine": {}, "trainings": []}))
    assert list(read_reports(folder)) == ["here"]


def test_the_chart_is_a_picture(folder: Path) -> None:
    draw(read_reports(folder), folder / "chart.png")
    assert (folder / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_an_empty_or_broken_folder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="ppro bench --out"):
        read_reports(tmp_path)
    (tmp_path / "x.json").write_text("{", encoding="utf-8")
    with pytest.raises(RunError, match=r"x\.json: cannot be read"):
        read_reports(tmp_path)
