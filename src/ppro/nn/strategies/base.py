"""What a strategy is: a rule by which nodes choose their step, and the loss that teaches it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor

from ppro.compute.ranks import Ranks
from ppro.errors import SettingsError
from ppro.parts import STRATEGIES
from ppro.parts.choices import Kind

Chance = Callable[[int, Tensor | None], Tensor]
"""The logit of Pr(r = 1) of all rows at step k, given the best step of each so far, or None."""


@dataclass(frozen=True, eq=False)
class Path:
    """How rows walk through the steps.

    Args:
        steps: l. Shape ``[R, m]``.
        logits: of Pr(r = 1) at each decision. Shape ``[S, R, m]``.
        gains: what taking the step costs more than not, where costs are known. ``[S, R, m]``.
    """

    steps: Tensor
    logits: Tensor
    gains: Tensor | None = None


class View(Protocol):
    """What a strategy sees of a forward pass over some rows.

    Attributes:
        h0: initial embeddings of the rows. Shape ``[R, m, d]``.
        epsilon: the threshold ε of each run. Shape ``[R, 1]``.
        learning: whether the pass teaches the controllers, so that the loss will be asked for.
        valid: 1 for a training node or the weight of its class, 0 for padding. Shape ``[R, m]``.
        total: the sum of ``valid`` over all ranks, or None where all rows are here. ``[R]``.
        ranks: the processes that hold the rows of the graph.
    """

    @property
    def h0(self) -> Tensor: ...  # noqa: D102
    @property
    def epsilon(self) -> Tensor: ...  # noqa: D102
    @property
    def learning(self) -> bool: ...  # noqa: D102
    @property
    def valid(self) -> Tensor: ...  # noqa: D102
    @property
    def total(self) -> Tensor | None: ...  # noqa: D102
    @property
    def ranks(self) -> Ranks: ...  # noqa: D102

    def probability(self, h: Tensor, evidence: Tensor, best: Tensor | None = None) -> Tensor:
        """Return Pr(r = 1) of the rows: to break (Eq. 7), or with ``best`` to update (Eq. 8)."""

    def error(self, h: Tensor) -> Tensor:
        """Return C(y, ŷ) of the rows from their embeddings, without gradient. ``[R, m]``."""


class Ahead(Protocol):
    """What a strategy asks of a linear backbone whose steps it sees several at once.

    Shapes: steps of the rows ``[R, steps, m, d]`` to ``[R, steps, m]``.
    """

    def break_probabilities(self, h: Tensor) -> Tensor:
        """Return Pr(r_b = 1) of steps (Eq. 7), without gradient."""

    def update_probability(self, h: Tensor, best: Tensor) -> Tensor:
        """Return Pr(r_u = 1) of one step (Eq. 8), without gradient. ``[R, m, d]``, ``[R, m]``."""

    def taught_probability(self, h: Tensor, best: Tensor | None = None) -> Tensor:
        """Return Pr(r = 1) of steps with its gradient: to break, or with ``best`` to update."""

    def errors(self, h: Tensor) -> Tensor:
        """Return C(y, ŷ) of steps, without gradient."""


class Strategy(ABC):
    """Watches the propagation of the rows of a pass, and keeps an embedding and a step for each.

    Selection is hard, and the controllers see embeddings without their gradient. A subclass with a
    ``name`` is known to every command, table, report and search by it.

    Shapes: embeddings ``[R, m, d]``; steps ``[R, m]``.

    Args:
        view: the pass that is watched.

    Attributes:
        name: what commands and files call it.
        title: what tables and reports call it.
        verb: what a node does where the probability exceeds ε, such as "break"; empty where
            nothing is decided.
        told: how a report begins to tell the step of a node.
        learns: whether it has controllers.
        looks: whether it sees the evidence of a step.
        ahead: whether it takes several steps at once, by :meth:`observe_steps`; a subclass that
            observes steps or tells chances in its own way does not, unless it says so.
        default_bias: initial bias of the propagation head; it decides where nodes start.
        kappa: price of leaving the common depth, in standard errors, where controllers compare.
        values: what a search may choose for the controllers, on either kind of graph.
        wide_values: what a wide search may choose besides, or instead.
        h_tilde: h̃, the best embedding of each row so far.
        steps: l, the step that it came from.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    verb: ClassVar[str] = ""
    told: ClassVar[str] = "It stopped at step"
    learns: ClassVar[bool] = True
    looks: ClassVar[bool] = True
    ahead: ClassVar[bool] = False
    default_bias: ClassVar[float] = 0.0
    kappa: ClassVar[float] = 1.0
    values: ClassVar[Mapping[Kind, Mapping[str, tuple[Any, ...]]]] = {}
    wide_values: ClassVar[Mapping[Kind, Mapping[str, tuple[Any, ...]]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "ahead" not in vars(cls) and {"observe", "chance"} & vars(cls).keys():
            cls.ahead = False
        if "name" in vars(cls):
            STRATEGIES.register(cls.name, cls)

    def __init__(self, view: View) -> None:
        self.view = view
        self.h_tilde = view.h0
        self.steps = torch.zeros(view.h0.shape[:2], dtype=torch.int64, device=view.h0.device)

    @abstractmethod
    def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
        """Take note of step k.

        Args:
            h: h^(k) of the rows.
            evidence: their aggregate ĥ^(k), and what else the controllers are shown of the step.
            last: whether k is L.
        """

    def observe_steps(self, first: int, h: Tensor, ahead: Ahead, *, last: bool) -> None:
        """Take note of several steps of a linear backbone, as if of one after the other.

        Args:
            first: the first of the steps.
            h: embeddings of the rows, in memory that is used again. Shape ``[R, steps, m, d]``.
            ahead: what can be asked about them.
            last: whether the last of the steps is L.
        """
        raise NotImplementedError(f"{type(self).__name__} observes one step at a time")

    def settled(self) -> bool:
        """Tell whether no later step can change anything."""
        return False

    def chance(self, h: Tensor, evidence: Tensor) -> Tensor | None:
        """Return Pr(r = 1) of the rows at a step, or None where nothing is decided."""
        return None

    def loss(self, error: Tensor) -> Tensor:
        """Return L_p of every run, with a gradient to the controllers. Shape ``[R]``.

        Args:
            error: C of the rows at the steps that were chosen. Shape ``[R, m]``.
        """
        return error.new_zeros(error.shape[0])

    @classmethod
    def compares(cls) -> bool:
        """Tell whether the strategy has a comparing form."""
        return cls.follow.__func__ is not Strategy.follow.__func__  # type: ignore[attr-defined]

    @classmethod
    def follow(cls, chance: Chance, start: Tensor, last: int, cost: Tensor | None) -> Path:
        """Walk rows through steps 0 .. L whose chances and costs are all known.

        Args:
            chance: the logit of Pr(r = 1) at a step.
            start: zeros. Shape ``[R, m]``, int64.
            last: L.
            cost: what each step costs each row, or None. Shape ``[L + 1, R, m]``.
        """
        raise SettingsError(
            f"strategy {cls.name} has no comparing form; set teaching=paper, or define follow"
        )

    def take(self, chosen: Tensor, k: int, h: Tensor) -> None:
        """Let the chosen rows keep step k. ``chosen``: ``[R, m]``, bool."""
        self.h_tilde = torch.where(chosen.unsqueeze(-1), h, self.h_tilde)
        self.steps = torch.where(chosen, k, self.steps)
