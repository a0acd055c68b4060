"""The two controllers: one shared first layer, a propagation head and a weight head."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.layers import uniform, zeros
from ppro.parts.choices import WeightForm

NUM_PROGRESS = 2


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

    def shared(self, h0: Tensor, z: Tensor | None) -> Tensor:
        """The part of the first layer that does not change with the step. ``[R, m, units]``."""
        u = torch.baddbmm(self.bias.unsqueeze(1), h0, self.initial)
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
        u = torch.baddbmm(shared, h, self.current)
        u = torch.baddbmm(u, aggregate, self.aggregate)
        if best is not None:
            u = torch.baddbmm(u, best, self.best)
        if progress is not None and self.progress is not None:
            u = torch.baddbmm(u, progress, self.progress)
        logit = torch.baddbmm(self.propagation_bias, F.relu(u), self.propagation_head)
        return logit.squeeze(-1).sigmoid()

    def weight(self, shared: Tensor, h_tilde: Tensor, depth: Tensor | None) -> Tensor:
        """w_i = F_w(z_i, h_i^(0), h̃_i, l_i) (Eq. 11).

        Args:
            depth: l_i / L, or None to leave the step out (ablation -nl).
        """
        u = torch.baddbmm(shared, h_tilde, self.current)
        if depth is not None:
            u = torch.baddbmm(u, depth.unsqueeze(-1), self.step)
        score = torch.baddbmm(self.weight_bias, F.relu(u), self.weight_head).squeeze(-1)
        if self.weight_form == "tanh":
            weight = 1 + torch.tanh(score)
        else:
            weight = F.softplus(score + math.log(math.e - 1))
        return weight if self.mean_weight is None else weight / self.mean_weight.detach()
