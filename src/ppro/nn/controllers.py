"""The two controllers: one shared first layer, a propagation head and a weight head."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.blocks import row_blocks
from ppro.compute.dense import added_product, matrix_product, product
from ppro.compute.device import may_ask
from ppro.compute.layers import uniform, zeros
from ppro.parts.choices import WeightForm

NUM_PROGRESS = 2
BLOCK_ROWS = 2048
"""Rows whose first layer is worked out at once without gradient: it stays in the cache."""


class Controllers(nn.Module):
    """F_p (Eq. 7, 8) and F_w (Eq. 11) as one two-layer network with a shared first layer.

    The first layer spans the union of all inputs, and an input that a head does not take is left
    out of the sum: u = ReLU(W_z z + W_0 h0 + W_x x + W_a ĥ + W_t h̃ + w_l l/L + b).

    Args:
        rngs: one generator of initial weights per run.
        width: size of the embeddings that the controllers see.
        units: size of the first layer.
        propagation_bias: initial bias of the propagation head; it decides where nodes start.
        weight_form: how the weight head keeps w positive; both start at w = 1 on average.
        num_measures: size of z.
        scaled: whether weights are divided by a mean that is kept with the parameters, 1 at first.
        progress: whether the propagation head also sees the step k/L and the change
            log ‖h_k - h_{k-1}‖, which the paper does not give it.

    Attributes:
        steps_needed: after how many steps all rows had stopped in the last pass of each kind, by
            which a pass chooses how many it shows at once.

    Shapes: z ``[R, m, measures]``; embeddings ``[R, m, width]``; steps, probabilities and weights
    ``[R, m]``.
    """

    def __init__(
        self,
        rngs: Sequence[torch.Generator],
        width: int,
        units: int,
        propagation_bias: Sequence[float],
        weight_form: WeightForm,
        *,
        num_measures: int = 3,
        scaled: bool = False,
        progress: bool = False,
    ) -> None:
        super().__init__()
        bound = 1 / math.sqrt(4 * width + num_measures + 1)
        self.priority = uniform(rngs, (num_measures, units), bound)
        self.initial = uniform(rngs, (width, units), bound)
        self.current = uniform(rngs, (width, units), bound)
        self.aggregate = uniform(rngs, (width, units), bound)
        self.best = uniform(rngs, (width, units), bound)
        self.step = uniform(rngs, (1, units), bound)
        self.bias = uniform(rngs, (units,), bound)
        self.propagation_head = uniform(rngs, (units, 1), 1 / math.sqrt(units))
        self.propagation_bias = zeros(rngs, 1, 1)
        self.propagation_bias.data += torch.tensor(propagation_bias).view(-1, 1, 1)
        self.weight_head = uniform(rngs, (units, 1), 1 / math.sqrt(units))
        self.weight_bias = zeros(rngs, 1, 1)
        self.weight_form = weight_form
        # A parameter without a gradient, so that it is kept and selected with the weights.
        self.mean_weight = nn.Parameter(torch.ones(len(rngs), 1)) if scaled else None
        self.progress = uniform(rngs, (NUM_PROGRESS, units), 1.0) if progress else None
        self.steps_needed: dict[tuple[bool, bool], int] = {}

    def shared(self, h0: Tensor, z: Tensor | None) -> Tensor:
        """The part of the first layer that does not change with the step. ``[R, m, units]``."""
        u = product(h0, self.initial, self.bias)
        return u if z is None else torch.baddbmm(u, z, self.priority)

    def probability(
        self,
        shared: Tensor,
        h: Tensor,
        aggregate: Tensor,
        best: Tensor | None = None,
        progress: Tensor | None = None,
    ) -> Tensor:
        """Pr(r = 1) of step k: to break (Eq. 7), or to update when ``best`` is given (Eq. 8)."""
        u = added_product(shared, h, self.current)
        u = added_product(u, aggregate, self.aggregate)
        if best is not None:
            u = added_product(u, best, self.best)
        if progress is not None and self.progress is not None:
            u = torch.baddbmm(u, progress, self.progress)
        logit = torch.baddbmm(self.propagation_bias, F.relu(u), self.propagation_head)
        return logit.squeeze(-1).sigmoid()

    def may_look_ahead(self, rows: int) -> bool:
        """Tell whether so many rows can be looked at in several steps at once."""
        return True

    def ahead(self, shared: Tensor, h0: Tensor, alpha: float) -> tuple[Tensor, Tensor]:
        """What :meth:`probabilities` takes of the first layer, for steps of a linear backbone.

        There ĥ_k = (h_k - α h_0) / (1-α), so that W_x h_k + W_a ĥ_k is one product with h_k, and
        what h_0 has in it is the same in all steps. Only the order of sums is another.
        """
        constant = torch.baddbmm(shared, h0, self.aggregate, alpha=-alpha / (1 - alpha))
        return constant, torch.add(self.current, self.aggregate, alpha=1 / (1 - alpha))

    def probabilities(self, constant: Tensor, weight: Tensor, h: Tensor) -> Tensor:
        """Pr(r_b = 1) of several steps of a linear backbone (Eq. 7), without gradient.

        Args:
            constant: the part of the first layer that does not change. Shape ``[R, m, units]``.
            weight: what h_k is multiplied with. Shape ``[R, width, units]``.
            h: h_k of the steps. Shape ``[R, steps, m, width]``.

        Returns:
            Shape ``[R, steps, m]``.
        """
        runs, steps, rows, width = h.shape
        if not may_ask(h):
            u = torch.bmm(h.reshape(runs, -1, width), weight).view(runs, steps, rows, -1)
            u = u.add_(constant.unsqueeze(1)).relu_().view(runs, steps * rows, -1)
            logits = torch.baddbmm(self.propagation_bias, u, self.propagation_head)
            return logits.view(runs, steps, rows).sigmoid_()
        logits = h.new_empty(runs, steps * rows)
        heads = self.propagation_head.view(runs, -1)
        of_runs = (part.unbind() for part in (constant, weight, heads, h, logits))
        for own, layer, head, seen, out in zip(*of_runs, strict=True):
            seen = seen.reshape(-1, width)
            for part, first in _parts(steps, rows):
                count = part.stop - part.start
                if count > rows:
                    u = matrix_product(seen[part], layer)
                    u.view(-1, *own.shape).add_(own)
                else:
                    some = own if count == rows else own[first : first + count]
                    u = matrix_product(seen[part], layer).add_(some)
                torch.mv(u.relu_(), head, out=out[part])
        return logits.view(runs, steps, rows).add_(self.propagation_bias).sigmoid_()

    def update_probability(
        self, constant: Tensor, weight: Tensor, h: Tensor, best: Tensor
    ) -> Tensor:
        """Pr(r_u = 1) of a step of a linear backbone (Eq. 8), without gradient. ``[R, m]``.

        Args:
            constant: as of :meth:`probabilities`, and ``weight`` likewise.
            h: h_k. Shape ``[R, m, width]``.
            best: h̃. Shape ``[R, m, width]``.
        """
        u = torch.baddbmm(constant, h, weight).baddbmm_(best, self.best).relu_()
        logit = torch.baddbmm(self.propagation_bias, u, self.propagation_head)
        return logit.squeeze(-1).sigmoid_()

    def weight(self, shared: Tensor, h_tilde: Tensor, depth: Tensor | None) -> Tensor:
        """w_i = F_w(z_i, h_i^(0), h̃_i, l_i) (Eq. 11).

        Args:
            depth: l_i / L, or None to leave the step out (ablation -nl).
        """
        u = added_product(shared, h_tilde, self.current)
        if depth is not None:
            u = torch.baddbmm(u, depth.unsqueeze(-1), self.step)
        score = torch.baddbmm(self.weight_bias, F.relu(u), self.weight_head).squeeze(-1)
        if self.weight_form == "tanh":
            weight = 1 + torch.tanh(score)
        else:
            weight = F.softplus(score + math.log(math.e - 1))
        return weight if self.mean_weight is None else weight / self.mean_weight.detach()


def _parts(steps: int, rows: int) -> list[tuple[slice, int]]:
    """Return steps one behind the other in parts, each with the row that it begins with.

    A part is several steps of few rows, or some rows of one step.
    """
    if rows <= BLOCK_ROWS:
        size = max(1, rows) * (BLOCK_ROWS // max(1, rows))
        return [(part, 0) for part in row_blocks(steps * rows, size)]
    firsts = range(0, steps * rows, rows)
    return [
        (part, part.start - first)
        for first in firsts
        for part in row_blocks(first + rows, BLOCK_ROWS, first=first)
    ]
