"""Whose errors teach, whose priorities have mean 1, and who looks at whom."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.nn.comparing.costs import DEAREST, at_step, row_mean
from ppro.nn.comparing.sight import Sight
from ppro.training.comparing import ComparingTrainer
from tests.training.comparing.support import settings_of, small_graph, splits_of, trainer_of

KINDS: list[dict[str, Any]] = [
    {"judges": "train"},
    {"judges": "share", "judge_share": 0.4},
    {"judges": "folds"},
]


def trained(epochs: int = 9, **changes: Any) -> ComparingTrainer:
    """Two runs after some epochs, where a step has no price."""
    graph = small_graph(60)
    made = trainer_of(graph, splits_of(graph, 2), settings_of(2, kappa=0, **changes))
    epoch = made.program()
    for _ in range(epochs):
        epoch()
    return made


def judged(made: ComparingTrainer) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        return made._judged(made.model.predictions(made.sight))


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_a_cost_is_the_error_that_the_looking_backbone_makes(changes: dict[str, Any]) -> None:
    made = trained(**changes)
    _, cost = judged(made)
    count = made.networks
    everything = made.model.predictions(Sight.of_all(made.inputs, 2 * count))
    scores = everything.scores.view(4, 2, count, 60, 3)
    for run in range(2):
        for row, node in enumerate(made.rows.nodes[run].tolist()):
            if made.rows.valid[run, row] == 0:
                continue
            seen = scores[:, run, int(made.panel.view[run, row]), node]
            scale = made.model.controllers.scale[run].detach()
            errors = -(seen * scale.unsqueeze(1)).log_softmax(-1)[:, made.rows.labels[run, row]]
            torch.testing.assert_close(
                cost[:, run, row], errors.clamp(max=DEAREST), atol=1e-4, rtol=0
            )


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_only_rows_that_teach_do(changes: dict[str, Any]) -> None:
    made = trained(**changes)
    x, cost = judged(made)
    loss = made._controller_loss(x, cost)
    other = cost.flip(0) + 1
    silent = torch.where(made.panel.teaches, cost, other)
    assert torch.equal(made._controller_loss(x, silent), loss)
    heard = torch.where(made.panel.teaches, other, cost)
    assert not torch.allclose(made._controller_loss(x, heard), loss)


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_priorities_have_mean_one_where_they_weigh_a_loss(changes: dict[str, Any]) -> None:
    made = trained(**changes)
    assert float(made.weights.std()) > 0
    ones = torch.ones(2)
    torch.testing.assert_close(row_mean(made.weights, made.train_rows.valid), ones)
    made.judge()
    # What scales the priorities of other nodes is the mean over those that were judged.
    x, _ = judged(made)
    raw = made.model.controllers.raw_weight(at_step(x, made.steps)).detach()
    mean = made.model.controllers.mean_weight.squeeze(-1).detach()
    torch.testing.assert_close(row_mean(raw, made.judge_rows.valid), mean)
