"""A share of the training nodes that θ never learns from: honest, at the price of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from ppro.errors import SettingsError
from ppro.nn.network import Rows
from ppro.training.judges.base import Judges, Panel

if TYPE_CHECKING:
    from ppro.settings.controllers import ControllerSettings
    from ppro.settings.settings import Settings


class HeldBack(Judges):
    """The nodes of ``judge_share`` teach φ alone, all others θ alone."""

    name: ClassVar[str] = "share"
    title: ClassVar[str] = "a share of the training nodes, kept from the backbone"

    @classmethod
    def check(cls, settings: ControllerSettings) -> None:
        """A share of nothing would judge nothing."""
        if settings.judge_share == 0:
            raise SettingsError("judges=share needs a share; set judge_share=0.2, or judges=train")

    @classmethod
    def panel(cls, rows: Rows, settings: Sequence[Settings]) -> Panel:
        """Return the rows that learn and those that teach; the run's own backbone looks at all."""
        held = held_back(rows, settings)
        alone = torch.tensor([s.controllers.judge_share == 0 for s in settings])
        few = (rows.valid > 0).sum(-1) < 2
        teaches = held | (alone.to(held.device) | few).unsqueeze(1)
        return replace(Panel.of_all(rows), learns=~held.unsqueeze(1), teaches=teaches)


def held_back(rows: Rows, settings: Sequence[Settings]) -> Tensor:
    """Return which rows θ does not learn from. Shape ``[R, m]``, bool.

    Args:
        rows: training nodes of each run; a run draws by its own seed, at least one, and leaves at
            least one to the backbone.
    """
    found = torch.zeros_like(rows.valid, dtype=torch.bool)
    for run, chosen in enumerate(settings):
        members = rows.valid[run].nonzero().squeeze(-1)
        share = chosen.controllers.judge_share
        if share == 0 or len(members) < 2:
            continue
        rng = torch.Generator().manual_seed(chosen.seed)
        order = torch.randperm(len(members), generator=rng).to(members.device)
        count = min(max(round(share * len(members)), 1), len(members) - 1)
        found[run, members[order[:count]]] = True
    return found
