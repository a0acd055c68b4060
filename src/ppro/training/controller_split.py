"""Who judges the controllers: all training nodes, or some that the backbone never learns from.

A backbone soon knows the labels of the nodes it learns from, most of all at step 0, where their own
features stand alone. Errors of such nodes say little about the steps of others. The errors of
nodes that are kept from the backbone say more. Not part of the paper; off unless ``judge_share``
is above 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from ppro.nn.network import Rows

if TYPE_CHECKING:
    from ppro.settings.settings import Settings


def share_out(rows: Rows, settings: Sequence[Settings]) -> tuple[Rows, Rows]:
    """Return the training rows that θ learns from, and those that φ learns from.

    Args:
        rows: training nodes of each run; a run draws its judges by its own seed, at least one,
            and leaves at least one to the backbone.
    """
    if all(s.controllers.judge_share == 0 for s in settings):
        return rows, rows
    learns, judges = torch.ones_like(rows.valid), torch.ones_like(rows.valid)
    for run, chosen in enumerate(settings):
        members = rows.valid[run].nonzero().squeeze(-1)
        if chosen.controllers.judge_share == 0 or len(members) < 2:
            continue
        rng = torch.Generator().manual_seed(chosen.seed)
        order = torch.randperm(len(members), generator=rng).to(members.device)
        count = min(max(round(chosen.controllers.judge_share * len(members)), 1), len(members) - 1)
        learns[run, members[order[:count]]] = 0
        judges[run, members[order[count:]]] = 0
    return replace(rows, valid=rows.valid * learns), replace(rows, valid=rows.valid * judges)
