"""Labels are compared with the classes of a model, in whatever way both are written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch_geometric.data import Data

from ppro import DataError, Graph, PPro, load_graph
from ppro.runs.scoring import in_all_classes

CHANCES = np.array([[0.9, 0.1], [0.2, 0.8]], dtype=np.float32)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.array([0, 1]), np.array([0, 1])),
        (np.array(["0", "1"]), np.array([0, 1])),
        (np.array([0, 1]), np.array(["0", "1"])),
        (np.array(["False", "True"]), np.array([False, True])),
        (np.array([0, 1]), np.array([False, True])),
    ],
)
def test_text_and_numbers_mean_the_same_classes(labels: Any, classes: Any) -> None:
    wide, codes = in_all_classes(CHANCES, labels, classes)
    assert codes.tolist() == [0, 1]
    assert wide.shape == (2, 2)


def test_labels_of_another_kind_are_told_of() -> None:
    with pytest.raises(DataError, match="labels such as 'ant', but the classes of the model are 0"):
        in_all_classes(CHANCES, np.array(["ant", "bee"]), np.array([0, 1]))
    wide, codes = in_all_classes(CHANCES, np.array([0, 7]), np.array([0, 1]))
    assert codes.tolist() == [0, 2]
    assert wide[:, 2].tolist() == [0, 0]


def test_a_graph_and_data_of_the_same_nodes_have_the_same_score() -> None:
    graph: Graph = load_graph("csbm", options={"nodes": 60, "classes": 3, "features": 8})
    data = Data(x=graph.features.to_dense(), edge_index=graph.edge_index, y=graph.labels)
    for source in (graph, data):
        model = PPro(epochs=8, hidden=8, max_steps=2, lr=0.05, device="cpu").fit(source)
        assert model.score(graph) == model.score(data) > 0
