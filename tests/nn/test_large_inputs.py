"""A whole training on a graph on disk is the training on the same graph in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from ppro.compute import sparse
from ppro.compute.feature_blocks import BlockedFeatures
from ppro.data.large import LargePlan, generate_large, read_large
from ppro.data.splits import Splits, fixed_splits
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.nn.controller_blocks import BlockedControllers
from ppro.nn.network import Inputs
from ppro.nn.priority import heterophily
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model, prepare_inputs, rows_from_masks
from ppro.training.fit import describe_nodes, fit
from ppro.training.trainer import Trainer
from tests.support import CPU, small_settings

PLAN = LargePlan(nodes=400, degree=8, classes=3, features=6, train=0.4, val=0.2, seed=1)
Pair = tuple[LargeGraph, Graph, Splits]


@pytest.fixture
def graphs(tmp_path: Path) -> Pair:
    """The same graph on disk and in memory, and its split for two runs."""
    generate_large(tmp_path, PLAN)
    large, masks = read_large(tmp_path)
    assert masks is not None
    small = Graph.build("g", large.edge_index, large.features.clone(), large.labels)
    return large, small, fixed_splits(masks, large.labels, "given", 2)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that goes by blocks on a large graph does so here."""
    monkeypatch.setattr(sparse, "HUGE", 1)
    monkeypatch.setattr(sparse, "LARGE", 1)
    monkeypatch.setattr(sparse, "BLOCK_ROWS", 37)
    monkeypatch.setattr(heterophily, "MANY_NODES", 1)
    monkeypatch.setattr(heterophily, "BLOCK_ROWS", 41)
    monkeypatch.setattr(BlockedControllers, "many_rows", 20)
    monkeypatch.setattr(BlockedControllers, "block_rows", 19)


def settings_of(strategy: str, **changes: object) -> list[Settings]:
    shape = {"form": "class", "strategy": strategy, **changes}
    return [small_settings(**shape, seed=seed) for seed in (0, 1)]


def trained(
    inputs: Inputs, splits: Splits, labels: torch.Tensor, chosen: list[Settings]
) -> Trainer:
    model = build_model(PLAN.features, PLAN.classes, chosen, CPU)
    train, val = (rows_from_masks(mask, labels, CPU) for mask in (splits.train, splits.val))
    trainer = Trainer(model, inputs, train, val, chosen)
    for _ in range(3):
        trainer.epoch()
    return trainer


@pytest.mark.parametrize(
    "changes",
    [
        {"feature_norm": "none"},
        {"feature_norm": "row"},
        {"form": "features", "feature_norm": "row", "node_dropout": 0.1},
        {"backbone": "grand", "consistency": 1.0, "node_dropout": 0.3},
    ],
    ids=str,
)
@pytest.mark.parametrize("strategy", ["none", "l2b", "l2u"])
def test_three_epochs_equal_those_in_memory(
    graphs: Pair, strategy: str, changes: dict[str, object], request: pytest.FixtureRequest
) -> None:
    large, small, splits = graphs
    chosen = settings_of(strategy, **changes)
    inputs = prepare_inputs(small, chosen[0], CPU)
    expected = trained(inputs, splits, small.labels, chosen)
    expected_nodes = describe_nodes(expected.model, inputs, small, 2)
    request.getfixturevalue("small_blocks")
    inputs = prepare_inputs(large, chosen[0], CPU)
    assert isinstance(inputs.features, BlockedFeatures)
    inputs.features.size = 23
    found = trained(inputs, splits, large.labels, chosen)
    torch.testing.assert_close(found.record.log[:3], expected.record.log[:3], atol=1e-5, rtol=1e-5)
    nodes = describe_nodes(found.model, inputs, large, 2)
    assert (nodes.steps == expected_nodes.steps).float().mean() > 0.99
    torch.testing.assert_close(
        nodes.probabilities.mean(1), expected_nodes.probabilities.mean(1), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize("chosen", [{"model": "h2gcn"}, {"model": "mlp"}, {"backbone": "gcn"}])
def test_other_networks_train_on_a_large_graph_too(graphs: Pair, chosen: dict[str, str]) -> None:
    large, small, splits = graphs
    settings = [
        small_settings(**{"strategy": "none", **chosen}, epochs=2, seed=seed) for seed in (0, 1)
    ]
    on_disk, in_memory = (fit(graph, splits, settings) for graph in (large, small))
    torch.testing.assert_close(
        on_disk.history.metrics, in_memory.history.metrics, atol=1e-5, rtol=1e-5
    )


def test_controllers_that_compare_are_refused(graphs: Pair) -> None:
    chosen = Settings(teaching="compare")
    with pytest.raises(SettingsError, match=r"teaching=compare keeps .*; set teaching=paper"):
        prepare_inputs(graphs[0], chosen, CPU)
    prepare_inputs(graphs[0], chosen.replace(strategy="none"), CPU)
