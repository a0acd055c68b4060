"""What judges are: which backbone learns from which training rows, and which rows teach."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from ppro.errors import SettingsError
from ppro.nn.comparing.network import compares
from ppro.nn.network import Rows
from ppro.parts import JUDGES

if TYPE_CHECKING:
    from ppro.settings.controllers import ControllerSettings
    from ppro.settings.settings import Settings


@dataclass(frozen=True, eq=False)
class Panel:
    """The judges of R runs, each with 1 + K backbones: its own, number 0, and K further ones.

    Args:
        learns: whether a backbone learns from a training row. Shape ``[R, 1 + K, m]``, bool.
        view: the number of the backbone that looks at a row: what it predicts there is what the
            controllers see of the row, and what the steps are judged by. Shape ``[R, m]``, int64.
        teaches: whether φ learns from a row. Shape ``[R, m]``, bool.
    """

    learns: Tensor
    view: Tensor
    teaches: Tensor

    @classmethod
    def of_all(cls, rows: Rows, backbones: int = 0) -> Panel:
        """Every backbone learns from all rows, the own one looks at them, and all of them teach."""
        runs, m = rows.nodes.shape
        all_ = torch.ones(runs, 1 + backbones, m, dtype=torch.bool, device=rows.nodes.device)
        return cls(all_, torch.zeros_like(rows.nodes), all_[:, 0])

    def learners(self, rows: Rows) -> Rows:
        """Return the rows of each run's own backbone."""
        return replace(rows, valid=rows.valid * self.learns[:, 0])

    def teachers(self, rows: Rows) -> Rows:
        """Return the rows that φ learns from."""
        return replace(rows, valid=rows.valid * self.teaches)

    def select(self, runs: Tensor) -> Panel:
        """Return the judges of some of the runs."""
        return Panel(self.learns[runs], self.view[runs], self.teaches[runs])


class Judges(ABC):
    """Says whose errors teach the controllers; a subclass with a ``name`` is known by it.

    Attributes:
        name: what commands and files call them.
        title: what they are, in words.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            JUDGES.register(cls.name, cls)

    @classmethod
    def backbones(cls, settings: ControllerSettings) -> int:
        """Return K: how many backbones a run has beside its own."""
        return 0

    @classmethod
    @abstractmethod
    def panel(cls, rows: Rows, settings: Sequence[Settings]) -> Panel:
        """Return which backbones learn from and look at which rows, and which rows teach.

        Args:
            rows: the training nodes of each run, padded.
            settings: one per run; what is drawn is drawn by the seed of the run alone.
        """

    @classmethod
    def check(cls, settings: ControllerSettings) -> None:
        """Refuse settings that go against each other.

        Raises:
            SettingsError: with what to change.
        """
        if settings.teaching == "paper" and cls.backbones(settings):
            raise SettingsError(
                f"judges={cls.name} has backbones of its own, which teaching=paper does not train; "
                "set teaching=compare, or judges=share with a judge_share"
            )


def networks_of(settings: Settings) -> int:
    """Return how many backbones of a run learn: its own, and those of its judges."""
    return 1 + judges_of([settings]).backbones(settings.controllers) if compares(settings) else 1


def judges_of(settings: Sequence[Settings]) -> type[Judges]:
    """Return the judges that the settings name.

    A judge_share above 0 is enough to name those of a share.
    """
    name = settings[0].controllers.judges
    if name == "train" and any(s.controllers.judge_share > 0 for s in settings):
        name = "share"
    found: type[Judges] = JUDGES.get(name)
    return found
