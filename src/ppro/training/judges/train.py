"""Training nodes that judge themselves: the paper's way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from ppro.nn.network import Rows
from ppro.training.judges.base import Judges, Panel

if TYPE_CHECKING:
    from ppro.settings.settings import Settings


class TrainingNodes(Judges):
    """θ and φ both learn from all training nodes."""

    name: ClassVar[str] = "train"
    title: ClassVar[str] = "the training nodes themselves"

    @classmethod
    def panel(cls, rows: Rows, settings: Sequence[Settings]) -> Panel:
        """All learn, look and teach."""
        return Panel.of_all(rows)
