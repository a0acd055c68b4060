"""Out-of-fold judges: every training node is judged by a backbone that has not learned from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from ppro.errors import SettingsError
from ppro.nn.network import Rows
from ppro.training.judges.base import Judges, Panel

if TYPE_CHECKING:
    from ppro.settings.controllers import ControllerSettings
    from ppro.settings.settings import Settings


class Folds(Judges):
    """K further backbones, each blind to one fold; the run's own learns from all nodes.

    Blind means that no label of the fold has a term in the backbone's loss. What φ learned from a
    node may reach its judge through the steps of others, which φ chose.
    """

    name: ClassVar[str] = "folds"
    title: ClassVar[str] = "backbones that are each blind to a fold of the training nodes"

    @classmethod
    def backbones(cls, settings: ControllerSettings) -> int:
        """K."""
        return settings.judge_folds

    @classmethod
    def check(cls, settings: ControllerSettings) -> None:
        """Every node teaches both θ and φ, so none is held back."""
        super().check(settings)
        if settings.judge_share > 0:
            raise SettingsError(
                f"judges={cls.name} keeps no node from the backbone; set judge_share=0, or "
                "judges=share"
            )

    @classmethod
    def panel(cls, rows: Rows, settings: Sequence[Settings]) -> Panel:
        """Return folds as views: backbone k learns from all but fold k, and looks at fold k."""
        count = cls.backbones(settings[0].controllers)
        fold = fold_of(rows, settings, count)
        backbone = torch.arange(1 + count, device=fold.device).view(1, -1, 1)
        learns = (fold.unsqueeze(1) != backbone) | (backbone == 0)
        return Panel(learns, fold, torch.ones_like(fold, dtype=torch.bool))


def fold_of(rows: Rows, settings: Sequence[Settings], folds: int) -> Tensor:
    """Return the fold of each training row: 1 .. K, class by class; 0 for padding. ``[R, m]``.

    Args:
        rows: training nodes; a run draws its folds by its own seed.
    """
    found = torch.zeros_like(rows.nodes)
    for run, chosen in enumerate(settings):
        members = rows.valid[run].nonzero().squeeze(-1)
        rng = torch.Generator().manual_seed(chosen.seed)
        chance = torch.rand(len(members), generator=rng).to(members.device)
        place = rows.labels[run, members] + 0.99 * chance.double()
        order = members[place.argsort(stable=True)]
        found[run, order] = 1 + torch.arange(len(order), device=order.device) % folds
    return found
