"""In float64 nothing but rounding is left between ranks and one process: they agree to 1e-9."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ppro.compute.features import Features, row_normalised
from ppro.compute.propagation import Adjacency
from ppro.compute.sparse import with_values
from ppro.distributed import RankGroup, owners
from ppro.distributed.adjacency import Halves, ShardAdjacency
from ppro.distributed.fitting import shard_trainer
from ppro.distributed.shard import Shard
from ppro.nn.network import Inputs
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model, prepare_inputs, rows_from_masks
from ppro.training.stopping import MEASURED
from ppro.training.trainer import Trainer
from tests.distributed.spawned import on_ranks
from tests.distributed.test_equal import CASES, RUNS, settings, world
from tests.support import CPU

EPOCHS = 8


def chosen(changes: dict[str, Any]) -> list[Settings]:
    return settings(**{"epochs": EPOCHS, "patience": EPOCHS, "edge_dropout": 0.1, **changes})


def doubled(matrix: torch.Tensor) -> torch.Tensor:
    return with_values(matrix, matrix.values().double())


def in_double(
    trainer: Trainer, inputs: Inputs, features: torch.Tensor, few: list[Settings]
) -> Trainer:
    """A trainer of the same model whose every number has 64 bits."""
    x = row_normalised(features.to_dense().double())
    wide = replace(
        inputs,
        features=Features(x if inputs.nodes is None else x[inputs.nodes], inputs.nodes),
        influence=inputs.influence.double(),
    )
    train, val = (
        replace(part, valid=part.valid.double()) for part in (trainer.train_rows, trainer.val_rows)
    )
    made = Trainer(trainer.model.double(), wide, train, val, few)
    made.record.log = made.record.log.double()
    made.record.level = made.record.level.double()
    return made


def log_of(trainer: Trainer) -> np.ndarray[Any, Any]:
    for _ in range(EPOCHS):
        trainer.epoch()
    return trainer.record.log.numpy()


def on_shards(ranks: RankGroup) -> list[np.ndarray[Any, Any]]:
    graph, splits = world()
    found = []
    for changes in CASES.values():
        few = chosen(changes)
        shard = Shard.cut(graph, splits, owners(graph, ranks), few[0], ranks, CPU)
        adjacency = shard.inputs.adjacency
        assert isinstance(adjacency, ShardAdjacency)
        rows, adjoint = (
            Halves(doubled(half.inner), doubled(half.outer))
            for half in (adjacency.rows, adjacency.adjoint_rows)
        )
        both = (rows, rows if adjacency.symmetric else adjoint)
        inputs = replace(shard.inputs, adjacency=ShardAdjacency(adjacency.halo, *both))
        trainer = shard_trainer(shard, few, None)
        found.append(log_of(in_double(trainer, inputs, graph.features, few)))
    return found


def test_losses_in_double_precision_are_the_same() -> None:
    graph, splits = world()
    answers = on_ranks(2, on_shards)
    for i, (case, changes) in enumerate(CASES.items()):
        few = chosen(changes)
        inputs = prepare_inputs(graph, few[0], CPU, RUNS)
        matrix, adjoint = doubled(inputs.adjacency.matrix), doubled(inputs.adjacency.adjoint)
        both = (matrix, matrix if inputs.adjacency.symmetric else adjoint)
        inputs = replace(inputs, adjacency=Adjacency(*both))
        model = build_model(graph.num_features, graph.num_classes, few, CPU)
        train, val = (
            rows_from_masks(masks, graph.labels, CPU) for masks in (splits.train, splits.val)
        )
        trainer = Trainer(model, inputs, train, val, few)
        alone = log_of(in_double(trainer, inputs, graph.features, few))
        for answer in answers:
            for metric in MEASURED:
                row = MEASURED.index(metric)
                np.testing.assert_allclose(
                    answer[i][:, row],
                    alone[:, row],
                    rtol=1e-9,
                    atol=1e-9,
                    err_msg=f"{case}: {metric}",
                )
