"""Rivals that read features from disk, block by block, are those that have them in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from ppro.compute.feature_blocks import BlockedFeatures
from ppro.data.large import LargePlan, generate_large, read_large
from ppro.data.splits import fixed_splits
from ppro.graph.core import Graph
from ppro.nn.network import Inputs
from ppro.training.assembly import build_model, prepare_inputs, rows_from_masks
from ppro.training.trainer import Trainer
from tests.support import CPU, small_settings

PLAN = LargePlan(nodes=300, degree=6, classes=3, features=5, train=0.4, val=0.2, seed=2)


@pytest.mark.parametrize("norm", ["none", "row"])
@pytest.mark.parametrize("model", ["mlp", "gprgnn", "dagnn", "appnp", "sgc"])
def test_training_from_disk_equals_training_in_memory(
    model: str, norm: str, tmp_path: Path
) -> None:
    generate_large(tmp_path, PLAN)
    large, masks = read_large(tmp_path)
    assert masks is not None
    small = Graph.build("g", large.edge_index, large.features.clone(), large.labels)
    splits = fixed_splits(masks, large.labels, "given", 2)
    chosen = [
        small_settings(model=model, strategy="none", feature_norm=norm, node_dropout=0.1, seed=seed)
        for seed in (0, 1)
    ]
    train, val = (rows_from_masks(m, large.labels, CPU) for m in (splits.train, splits.val))

    def trained(inputs: Inputs) -> Trainer:
        network = build_model(PLAN.features, PLAN.classes, chosen, CPU)
        trainer = Trainer(network, inputs, train, val, chosen)
        for _ in range(3):
            trainer.epoch()
        return trainer

    on_disk = prepare_inputs(large, chosen[0], CPU)
    assert isinstance(on_disk.features, BlockedFeatures)
    on_disk.features.size = 23
    found, expected = trained(on_disk), trained(prepare_inputs(small, chosen[0], CPU))
    torch.testing.assert_close(found.record.log[:3], expected.record.log[:3], atol=1e-5, rtol=1e-5)
    pairs = zip(found.model.parameters(), expected.model.parameters(), strict=True)
    for one, other in pairs:
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
