"""Several steps of a linear backbone at once, for strategies that take them so.

What nodes choose does not change how the graph propagates, so a few large products do what one
small product after the other would. Probabilities are summed in another order than one step at a
time would have them; whether they exceed ε is all that is made of them without gradient.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ppro.compute.device import may_ask
from ppro.compute.ranks import ALONE
from ppro.nn.controllers import Controllers
from ppro.nn.strategies.base import Strategy

if TYPE_CHECKING:
    from ppro.nn.forward_pass import Pass

_KINDS = ((False, False), (False, True), (True, False), (True, True))
"""Of passes: whether they teach the controllers, and whether they are without noise."""
FEW, MOST_AHEAD, MOST_ON_GPU = 2, 2**20, 2**26
"""Steps up to which one at a time is as fast, and most numbers of embeddings that wait for a look:
as many as caches hold, and on a GPU as its memory can spare."""


def may_look_ahead(pass_: Pass, strategy: Strategy) -> bool:
    """Tell whether the strategy may be shown several steps of a linear backbone at once.

    Processes that share a graph ask each other after every step. A GPU is never asked whether all
    rows have stopped, and sees all steps.
    """
    if not strategy.ahead or torch.compiler.is_compiling():
        return False
    parts, rows = pass_.model.parts, pass_.h0
    if pass_.ranks is not ALONE or _room(rows) < 2:
        return False
    if parts.controller_inputs == "predictions" or parts.use_progress:
        return False
    few = steps_needed(pass_, strategy) <= FEW
    return not few and pass_.controllers.may_look_ahead(rows.shape[1])


def _room(rows: Tensor) -> int:
    """Return how many steps of the rows there is memory for."""
    most = MOST_AHEAD if may_ask(rows) else MOST_ON_GPU
    return most // max(1, rows.numel())


def steps_needed(pass_: Pass, strategy: Strategy) -> int:
    """Return after how many steps all rows had stopped in the last pass of this kind, or 1.

    A strategy that never stops early needs all, so that its sums have one order in every pass.
    """
    if type(strategy).settled is Strategy.settled or not may_ask(pass_.h0):
        return pass_.model.max_steps
    return pass_.controllers.steps_needed.get((pass_.learning, pass_.noise is None), 1)


def note_steps(pass_: Pass, strategy: Strategy, needed: int) -> None:
    """Keep after how many steps all rows have stopped, where the next pass may want to know it."""
    if strategy.ahead and not torch.compiler.is_compiling():
        kind = pass_.learning, pass_.noise is None
        pass_.controllers.steps_needed[kind] = needed


def kept_steps(model: nn.Module) -> dict[str, Tensor]:
    """Return what the passes of a model need to remember, for a checkpoint; nothing where none do.

    The order of sums depends on it, so that a training that goes on has the bits of one that was
    not stopped.
    """
    found = getattr(model, "controllers", None)
    if not isinstance(found, Controllers):
        return {}
    return {"ahead": torch.tensor([found.steps_needed.get(kind, 1) for kind in _KINDS])}


def restore_steps(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Remember what :func:`kept_steps` returned."""
    found = getattr(model, "controllers", None)
    if isinstance(found, Controllers):
        found.steps_needed = dict(zip(_KINDS, state["ahead"].tolist(), strict=True))


def look_ahead(pass_: Pass, strategy: Strategy, alpha: float) -> int:
    """Show a strategy several steps at a time; returns the last one that any row may have taken.

    As many are shown at first as the last pass of this kind needed, for all rows may stop early.
    """
    ahead, h0, last = Ahead(pass_, alpha), pass_.h0, pass_.model.max_steps
    runs, count, width = h0.shape
    most = min(last, _room(h0))
    kept = h0.new_empty(runs, most, count, width)
    size, waiting = min(steps_needed(pass_, strategy), most), 0
    places, choosing = kept.unbind(1), slice(pass_.chosen)
    direct = runs == 1 and not pass_.rows.whole
    nodes = pass_.rows.nodes[0, choosing]
    for k, h in pass_.propagated(alpha):
        if direct:
            torch.index_select(h[0], 0, nodes, out=places[waiting][0])
        else:
            places[waiting].copy_(pass_.pick(h, choosing))
        waiting += 1
        if waiting < size and k < last:
            continue
        strategy.observe_steps(k - waiting + 1, kept[:, :waiting], ahead, last=k == last)
        if pass_.chosen is None and strategy.settled():
            return int(strategy.steps.max())
        size, waiting = min(2 * size, most), 0
    return last


class Ahead:
    """What a strategy asks of a pass whose steps it sees several at once.

    It is the :class:`~ppro.nn.strategies.Ahead` of the strategy.

    Args:
        alpha: the teleport share, by which ĥ_k follows from h_k and h_0.
    """

    def __init__(self, pass_: Pass, alpha: float) -> None:
        self.pass_, self.alpha = pass_, alpha
        self._first_layer: tuple[Tensor, Tensor] | None = None

    @torch.no_grad()
    def break_probabilities(self, h: Tensor) -> Tensor:
        """Pr(r_b = 1) of steps (Eq. 7). Shapes: ``[R, steps, m, d]`` to ``[R, steps, m]``."""
        return self.pass_.controllers.probabilities(*self._in_common(), h)

    @torch.no_grad()
    def update_probability(self, h: Tensor, best: Tensor) -> Tensor:
        """Pr(r_u = 1) of one step (Eq. 8). Shapes: ``[R, m, d]`` twice to ``[R, m]``."""
        return self.pass_.controllers.update_probability(*self._in_common(), h, best.detach())

    def _in_common(self) -> tuple[Tensor, Tensor]:
        """What all steps have in common, worked out once z is known."""
        if self._first_layer is None:
            shared, h0 = self.pass_.shared(weighting=False), self.pass_.h0.detach()
            self._first_layer = self.pass_.controllers.ahead(shared, h0, self.alpha)
        return self._first_layer

    def taught_probability(self, h: Tensor, best: Tensor | None = None) -> Tensor:
        """Pr(r = 1) of steps, with its gradient: to break, or with ``best`` to update.

        Shapes: ``[R, steps, m, d]`` to ``[R, steps, m]``.
        """
        runs, steps, rows = h.shape[:3]
        aggregate = (h - self.alpha * self.pass_.h0.detach().unsqueeze(1)) / (1 - self.alpha)
        shared = self.pass_.shared(weighting=False).unsqueeze(1).expand(-1, steps, -1, -1)
        u, h, aggregate = (part.flatten(1, 2) for part in (shared, h, aggregate))
        chosen = None if best is None else best.flatten(1, 2)
        p = self.pass_.controllers.probability(u, h.detach(), aggregate, chosen)
        return p.view(runs, steps, rows)

    @torch.no_grad()
    def errors(self, h: Tensor) -> Tensor:
        """C(y, ŷ) of steps. Shapes: ``[R, steps, m, d]`` to ``[R, steps, m]``."""
        (runs, steps, rows), model, of_rows = h.shape[:3], self.pass_.model, self.pass_.rows
        h0, nodes, labels = (
            part[:, :rows].unsqueeze(1).expand(-1, steps, rows, *part.shape[2:]).flatten(1, 2)
            for part in (self.pass_.h0_rows, of_rows.nodes, of_rows.labels)
        )
        logits = model.backbone.classify(h.flatten(1, 2), h0, nodes, self.pass_.noise)
        return model.criterion(logits, labels).view(runs, steps, rows)
