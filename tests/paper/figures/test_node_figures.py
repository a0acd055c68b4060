"""Figures of single nodes, from files that were made up."""

from __future__ import annotations

import math
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from ppro.paper.figures import correlations, priority, relations
from ppro.paper.store import Store
from tests.paper.figures.support import arrays, write_nodes

pytest.importorskip("matplotlib")


def test_correlations_over_the_runs() -> None:
    found = correlations.over_runs([0.1, 0.3, None])
    error = 0.1 * stats.t.ppf(0.975, 1)
    assert found.mean == pytest.approx(0.2)
    assert found.constant == 1
    assert found.reach == pytest.approx(error)
    assert found.text == "+0.20 ± 1.27 (1)"
    alone = correlations.over_runs([0.1, None])
    assert math.isnan(alone.mean)
    assert alone.text == "– (1)"


def test_a_rank_correlation_is_found() -> None:
    found = correlations.correlations(arrays())
    assert found["steps", "degree"].mean == pytest.approx(1)
    assert found["priorities", "homophily"].mean == pytest.approx(-1)
    assert abs(found["steps", "centrality"].mean) < 0.5


def test_correlations_are_drawn_and_told(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert correlations.draw(store) is None
    cells = correlations.cells()
    write_nodes(store, cells[0], arrays())
    write_nodes(store, cells[1], {**arrays(), "steps": np.ones((3, 60), dtype=np.uint8)})
    drawing = correlations.draw(store)
    assert drawing is not None
    assert len(drawing.figure.axes) == 6
    assert "| Cora | L2B | +1.00 ± 0.00 |" in drawing.text
    assert "| Cora | L2U | – (3) | – (3) | – (3) |" in drawing.text


def test_groups_of_equal_size() -> None:
    measure = np.arange(100.0)
    effects = np.stack([measure, 2 * measure])
    found = relations.group_means(measure, effects)
    assert found.shape == (2, relations.GROUPS)
    assert np.all(np.diff(found, axis=1) > 0)
    np.testing.assert_allclose(found[1], 2 * found[0])


def test_nodes_of_one_value_stay_together() -> None:
    measure = np.array([0.0] * 50 + [1.0] * 50 + [np.nan])
    found = relations.group_means(measure, np.append(measure[:100], 7.0)[None])
    assert set(found[np.isfinite(found)]) == {0.0, 1.0}
    assert np.isnan(found).sum() == relations.GROUPS - 2


def test_relations_are_drawn(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert relations.draw(store) is None
    for cell in relations.cells():
        write_nodes(store, cell, arrays())
    drawing = relations.draw(store)
    assert drawing is not None
    assert len(drawing.figure.axes) == 6


def test_cases_are_chosen_by_their_neighbourhood() -> None:
    graph = nx.disjoint_union_all([nx.star_graph(4), nx.star_graph(5), nx.star_graph(4)])
    homophily = np.full(graph.number_of_nodes(), 0.5)
    centres = [0, 5, 11]
    homophily[centres] = [0.0, 1.0, 0.75]
    assert priority.cases(graph, homophily) == [5, 11, 0]
    assert priority.cases(nx.path_graph(9), np.zeros(9)) == []


def test_priorities_are_drawn(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert priority.draw(store) is None
    graph = nx.disjoint_union_all([nx.star_graph(5)] * 4)
    made = arrays(graph.number_of_nodes())
    made["edges"] = np.array(graph.edges).T.astype(np.uint16)
    write_nodes(store, priority.cells()[0], made)
    drawing = priority.draw(store)
    assert drawing is not None
    assert drawing.text.count("| v") == 3
    titles = [axes.get_title() for axes in drawing.figure.axes]
    assert any(title.startswith("(b) v1: l = ") for title in titles)
