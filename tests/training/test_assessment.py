"""What predictions are worth: against scikit-learn, against guessing, and in words."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from torch import Tensor

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.assessment import Assessment, counts_of, majority, scores_of
from ppro.training.verdicts import is_rare, verdicts


def _graph(labels: Tensor, names: tuple[str, ...]) -> Graph:
    n = len(labels)
    edges = torch.stack([torch.arange(n), torch.arange(n).roll(1)])
    both = torch.cat([edges, edges.flip(0)], 1)
    return Graph("drawn", both, None, torch.ones(n, 2), labels, names)


def _splits(runs: int, nodes: int) -> Splits:
    place = torch.stack(
        [torch.randperm(nodes, generator=torch.Generator().manual_seed(r)) for r in range(runs)]
    )
    third = nodes // 3
    masks = place < third, (place >= third) & (place < 2 * third), place >= 2 * third
    return Splits("drawn", *masks)


def _assessed(runs: int = 3, classes: int = 3) -> tuple[Assessment, Tensor, Tensor, Splits]:
    rng = torch.Generator().manual_seed(0)
    labels = torch.randint(classes, (90,), generator=rng)
    labels[::10] = -1
    chances = torch.randn(runs, 90, classes, generator=rng).softmax(-1)
    graph, splits = _graph(labels, tuple("abcdef"[:classes])), _splits(runs, 90)
    return Assessment.of(chances, graph, splits, Settings()), chances, labels, splits


def test_classes_and_confusion_are_those_of_all_test_nodes_together() -> None:
    found, chances, labels, splits = _assessed()
    seen = splits.test & (labels >= 0)
    true = torch.cat([labels[mask] for mask in seen])
    told = torch.cat([p.argmax(-1)[mask] for p, mask in zip(chances, seen, strict=True)])
    assert found.part == "test"
    assert found.counts == confusion_matrix(true, told).tolist()
    expected = precision_recall_fscore_support(true, told)
    rows = [(row.precision, row.recall, row.f1, row.nodes) for row in found.classes]
    assert rows == [pytest.approx(row) for row in zip(*expected, strict=True)]
    assert [row.name for row in found.classes] == ["a", "b", "c"]


def test_every_metric_is_told_of_every_part_and_run() -> None:
    found, chances, labels, splits = _assessed()
    facts = found.facts()
    for part in ("val", "test"):
        mask = getattr(splits, part)[1] & (labels >= 0)
        alone = scores_of(chances[1][mask], labels[mask], "accuracy")
        assert found.of_run(1)["metrics"][part] == alone
        assert set(facts["metrics"][part]) == set(alone)
        values = found.scores[part]["log-loss"]
        assert facts["metrics"][part]["log-loss"]["mean"] == pytest.approx(sum(values) / 3)


def test_a_part_without_nodes_has_no_numbers_and_validation_nodes_are_told_of() -> None:
    _, chances, labels, splits = _assessed()
    graph = _graph(labels, ("a", "b", "c"))
    none = Splits("drawn", splits.train, splits.val, torch.zeros_like(splits.test))
    found = Assessment.of(chances, graph, none, Settings())
    assert found.part == "val"
    assert all(math.isnan(row["mean"]) for row in found.facts()["metrics"]["test"].values())
    assert found.majority is not None


@pytest.mark.parametrize(
    ("right", "beaten"), [(90, False), (92, False), (95, True), (88, False), (100, True)]
)
def test_the_majority_is_beaten_by_more_than_a_standard_error(right: int, beaten: bool) -> None:
    """90 of 100 nodes are of one class: the standard error of such a share is 3 %."""
    counts = torch.tensor([[min(right, 90), 90 - min(right, 90)], [0.0, 0.0]])
    extra = max(right - 90, 0)
    counts[1] = torch.tensor([10 - extra, extra])
    found = majority([counts.double()], ("usual", "odd"))
    assert found is not None
    assert (found.name, found.share) == ("usual", 0.9)
    assert found.gain == pytest.approx((right - 90) / 100)
    assert found.standard_error == pytest.approx(0.03)
    assert found.is_beaten is beaten


def _of_frauds(found_of_20: int) -> dict[str, Any]:
    labels = (torch.arange(1000) >= 20).long()
    predicted = labels.clone()
    predicted[found_of_20:20] = 1
    chances = torch.nn.functional.one_hot(predicted, 2).float()[None]
    every = torch.ones(1, 1000, dtype=torch.bool)
    graph = _graph(labels, ("fraud", "usual"))
    splits = Splits("drawn", ~every, ~every, every)
    return Assessment.of(chances, graph, splits, Settings()).facts()


def test_few_positives_that_nobody_finds_are_told() -> None:
    facts = _of_frauds(0)
    assert facts["positive"] == 0
    assert is_rare(facts)
    majority_told, rare_told = verdicts(facts)
    assert "no better than the majority class: 98.00 %" in majority_told
    assert "98.00 % of the test nodes are 'usual'" in majority_told
    assert "only 2.0 % of the nodes are 'fraud', of which 0 of 20 are found" in rare_told


def test_positives_that_are_found_leave_the_word_on_accuracy() -> None:
    (told,) = verdicts(_of_frauds(18))
    assert "18 of 20 are found: accuracy says little" in told


def test_a_good_result_has_no_verdict_and_an_old_one_none_either() -> None:
    found, *_ = _assessed()
    facts = found.facts()
    assert verdicts({**facts, "majority": {**facts["majority"], "beaten": True}}) == []
    assert verdicts({"metric": "accuracy"}) == []


def test_other_predictions_than_the_most_probable_ones_are_counted() -> None:
    chances = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2]])
    labels, by_threshold = torch.tensor([0, 1, 0]), torch.tensor([0, 1, 0])
    assert scores_of(chances, labels, "accuracy")["accuracy"] == pytest.approx(2 / 3)
    moved = scores_of(chances, labels, "accuracy", by_threshold)
    assert moved["accuracy"] == moved["macro-f1"] == 1.0
    assert counts_of(by_threshold, labels, 2).tolist() == [[2, 0], [0, 1]]
