"""Figures of accuracies, from files that were made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ppro.paper.figures import ablation, convergence, depth, sensitivity
from ppro.paper.store import Store
from ppro.paper.tables import TABLES
from tests.paper.figures.support import write_accuracies
from tests.paper.support import keep, reached

pytest.importorskip("matplotlib")


def test_ablation_marks_what_is_more_than_noise(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for cell in ablation.cells():
        lower = 5.0 if "use_propagation" in cell.changes else 0.0
        noise = 0.3 if "use_step" in cell.changes else 0.0
        write_accuracies(store, cell, [80 - lower + noise, 81 - lower - noise, 80.5 - lower])
    drawing = ablation.draw(store)
    assert drawing is not None
    assert len(drawing.figure.axes) == 3
    row = next(line for line in drawing.text.splitlines() if line.startswith("| Cora | L2B"))
    places = row.strip("| ").split(" | ")[2:]
    assert [place.endswith("*") for place in places] == [False, False, False, False, True]
    assert drawing.text.count("| Chameleon |") == 2


def test_ablation_shows_what_is_there(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert ablation.draw(store) is None
    write_accuracies(store, ablation.cells()[0], [80.0, 81.0])
    drawing = ablation.draw(store)
    assert drawing is not None
    assert "| Cora | L2B | 80.5 ± 0.7 | missing |" in drawing.text
    told = [[text.get_text() for text in axes.texts] for axes in drawing.figure.axes]
    assert told == [[], ["not measured yet"], ["not measured yet"]]
    (legend,) = drawing.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["L2B"]


def test_convergence_says_when(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert convergence.draw(store) is None
    curve = np.minimum(np.arange(1, 201), 50.0)
    for cell in convergence.cells():
        keep(store, cell.place, {"curves": [curve.tolist(), (curve + 2).tolist()]})
    drawing = convergence.draw(store)
    assert drawing is not None
    assert "| Cora | L2B | 51.0 | 49 |" in drawing.text
    assert convergence.converged_after(np.array([1.0, 5.0, 9.5, 10.0])) == 3


def test_no_run_of_convergence_stops_early() -> None:
    for cell in convergence.cells():
        assert cell.changes["patience"] >= cell.changes["epochs"] == 200


def test_sensitivity_shows_the_span_and_the_choice(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert sensitivity.draw(store) is None
    for cell in sensitivity.cells():
        epsilon = cell.changes.get("epsilon", 0.9)
        base = 70 + 10 * epsilon
        chosen = {"lambda1": 1.0, "lambda2": 1.0, "epsilon": 0.9}
        write_accuracies(store, cell, [base, base + 1], **chosen)
    drawing = sensitivity.draw(store)
    assert drawing is not None
    assert "| Pubmed | ε | 71.5 at 0.1 | 79.5 at 0.9 |" in drawing.text
    white = [
        line
        for axes in drawing.figure.axes
        for line in axes.get_lines()
        if line.get_markerfacecolor() == "white"
    ]
    assert len(white) == len(sensitivity.DATASETS) * len(sensitivity.RANGES)


def test_depth_shows_the_cells_of_its_table(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert depth.draw(store) is None
    cells = TABLES["depth"]().cells()
    keep(store, cells[0].place, reached([80.0]))
    assert depth.draw(store) is None, "one depth is no line"
    for cell in cells:
        keep(store, cell.place, reached([80.0]))
    drawing = depth.draw(store)
    assert drawing is not None
    assert len(drawing.figure.axes) == 6
    assert depth.DEPTH.table is not None
