"""Figures of learned depths, from files that were made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ppro.paper.figures import personal, planted
from ppro.paper.planted import POINTS, STRATEGIES, strategy
from ppro.paper.store import Store
from tests.paper.support import keep, reached

pytest.importorskip("matplotlib")
from matplotlib.patches import Rectangle

DEEP, SHALLOW = [0.0, 0.1, 0.2, 0.7], [0.9, 0.1, 0.0, 0.0]


def test_the_steps_of_either_type_stand_side_by_side(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert planted.draw(store) is None
    for point in POINTS[:2]:
        for name in STRATEGIES:
            key = strategy(point.form, name, "compare").key
            types = {
                "deep": {"mean_step": [2.6, 2.6], "step_shares": DEEP},
                "shallow": {"mean_step": [0.1, 0.1], "step_shares": SHALLOW},
            }
            keep(store, f"{point.arena.place}/{key}", {**reached([90.0, 91.0]), **types})
    drawing = planted.draw(store)
    assert drawing is not None
    above, below = drawing.figure.axes[:4], drawing.figure.axes[4:]
    for axes in above:
        bars = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
        assert [bar.get_height() for bar in bars] == [*DEEP, *SHALLOW]
        assert [list(np.asarray(line.get_xdata())) for line in axes.get_lines()] == [[2.6], [0.1]]
    assert [axes.get_title() for axes in above] == [
        f"{name}, {form} form" for form in ("hidden", "class") for name in ("L2B", "L2U")
    ]
    assert all(axes.texts[0].get_text() == "not measured yet" for axes in below)


def test_every_graph_has_its_difference_and_interval(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert personal.draw(store) is None
    for name, higher in (("cora", "l2b"), ("texas", "l2u")):
        for key in ("fixed", "l2b", "l2u"):
            test = [80.0, 81.0] if key == "fixed" else [81.0, 82.5]
            keep(store, f"personal/{name}/{key}", reached(test, 90.0 if key == higher else 85.0))
    drawing = personal.draw(store)
    assert drawing is not None
    (axes,) = drawing.figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Cora", "Texas"]
    (legend,) = drawing.figure.legends
    assert {text.get_text() for text in legend.get_texts()} == {
        f"{name}, {word}" for name in ("L2B", "L2U") for word in ("chosen", "not chosen")
    }
    places = {
        container.get_label(): [float(x) for x in container[0].get_xdata()]
        for container in axes.containers
    }
    assert all(found == [1.25] for found in places.values())
