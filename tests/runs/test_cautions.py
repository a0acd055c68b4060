"""What a training says of few labels, of parts without a class, and of weights without use."""

from __future__ import annotations

import pytest
import torch

from ppro.data.drawn import drawn_splits
from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.runs.cautions import cautions
from ppro.settings.settings import Settings

RANDOM = "random-60-20-20"


def graph_of(labels: list[int], **more: object) -> Graph:
    nodes = torch.arange(len(labels))
    edges = torch.stack([nodes, nodes.roll(1)])
    return Graph.build(
        "g", edges, torch.rand(len(labels), 2), torch.tensor(labels), class_names=("a", "b", "c")
    )


def told(labels: list[int], split: str = RANDOM, runs: int = 2) -> str:
    graph = graph_of(labels)
    return "\n".join(cautions(graph, drawn_splits(graph.labels, split, runs, 0), Settings()))


def test_enough_labels_are_worth_no_word() -> None:
    assert told([0, 1, 2] * 10) == ""


def test_three_labels_a_class_are_told_of_once() -> None:
    line = told([0, 1, 2] * 3 + [-1] * 20)
    assert line.count("\n") == 0
    assert "no node is for testing" in line
    assert "as few as 2 training nodes in 3 of 3 classes (a, b, c): results depend" in line


def test_a_class_that_is_missing_from_a_part() -> None:
    line = told([0, 1] * 10 + [2])
    assert "without a validation node: class c; without a test node: class c" in line
    assert "as few as one training node in class c" in line


def test_a_class_without_training_nodes() -> None:
    graph = graph_of([0, 1, 2] * 6)
    third = graph.labels == 2
    train, val = torch.arange(18) < 9, (torch.arange(18) >= 9) & (torch.arange(18) < 14)
    masks = (train & ~third, val, ~(train | val) | (third & train))
    line = "\n".join(cautions(graph, Splits.from_masks(*masks, labels=graph.labels), Settings()))
    assert "without a training node, and hardly ever predicted: class c" in line


def test_two_labels_a_class_validate_and_test() -> None:
    graph = graph_of([0, 1, 2] * 2 + [-1] * 6)
    splits = drawn_splits(graph.labels, RANDOM, 3, 0)
    assert splits.train.sum(1).tolist() == [3, 3, 3]
    assert splits.val.sum(1).tolist() == [2, 2, 2]
    assert splits.test.sum(1).tolist() == [1, 1, 1]
    assert not bool((splits.val & splits.train).any())


def test_one_label_a_class_says_when_to_stop() -> None:
    graph = graph_of([0, 1, 2] + [-1] * 9)
    for split in (RANDOM, "1-per-class"):
        splits = drawn_splits(graph.labels, split, 2, 0)
        assert torch.equal(splits.train, splits.val)
        assert splits.parts(0).tolist() == [1, 1, 1] + [0] * 9
        line = "\n".join(cautions(graph, splits, Settings()))
        assert "none can be spared to validate" in line
        assert "without a validation node" not in line


def test_weights_that_a_backbone_does_not_use() -> None:
    graph = graph_of([0, 1, 2] * 10)
    weights = torch.rand(graph.edge_index.shape[1]) + 1
    weighted = Graph(**{**vars(graph), "edge_weight": weights})
    splits = drawn_splits(graph.labels, RANDOM, 1, 0)
    line = ["gat does not use the weights of the edges; --backbone appnp and gcn do"]
    for settings in (Settings(backbone="gat"), Settings(model="gat", strategy="none")):
        assert cautions(weighted, splits, settings) == line
        assert cautions(graph, splits, settings) == []
    assert cautions(weighted, splits, Settings()) == []


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (
            {"teaching": "compare", "epsilon": 0.9},
            "under teaching=compare, only under paper: epsilon",
        ),
        ({"start": "held", "kappa": 2.0}, "under teaching=paper, only under compare: start, kappa"),
        ({"teaching": "compare", "start": "held", "lambda1": 3.0}, ""),
        ({"strategy": "none", "start": "held"}, ""),
    ],
    ids=str,
)
def test_settings_without_effect_are_told(settings: dict[str, object], line: str) -> None:
    graph = graph_of([0, 1, 2] * 10)
    splits = drawn_splits(graph.labels, RANDOM, 1, 0)
    found = "\n".join(cautions(graph, splits, Settings.read(settings)))
    assert found == (f"without effect {line}" if line else "")
