"""Layers that hold the weights of many runs in a leading dimension."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from ppro.compute.dense import product
from ppro.compute.noise import Noise, matrix_ids


def generators(seeds: Sequence[int], device: str = "cpu") -> list[torch.Generator]:
    """Return one generator of initial weights for each run."""
    return [torch.Generator(device).manual_seed(int(seed)) for seed in seeds]


def uniform(rngs: Sequence[torch.Generator], shape: Sequence[int], bound: float) -> nn.Parameter:
    """Return a parameter drawn from U(-bound, bound), run by run. Shape ``[R, *shape]``."""
    rows = [torch.empty(*shape).uniform_(-bound, bound, generator=rng) for rng in rngs]
    return nn.Parameter(torch.stack(rows))


def normal(rngs: Sequence[torch.Generator], shape: Sequence[int], spread: float) -> nn.Parameter:
    """Return a parameter drawn from N(0, spread²), run by run. Shape ``[R, *shape]``."""
    rows = [torch.empty(*shape).normal_(0, spread, generator=rng) for rng in rngs]
    return nn.Parameter(torch.stack(rows))


def glorot(rngs: Sequence[torch.Generator], fan_in: int, fan_out: int) -> nn.Parameter:
    """Glorot-uniform weights of every run. Shape ``[R, fan_in, fan_out]``."""
    return uniform(rngs, (fan_in, fan_out), math.sqrt(6 / (fan_in + fan_out)))


def zeros(rngs: Sequence[torch.Generator], *shape: int) -> nn.Parameter:
    """Return a parameter of zeros. Shape ``[R, *shape]``."""
    return nn.Parameter(torch.zeros(len(rngs), *shape))


class RunLinear(nn.Module):
    """y = x W + b, with W and b of each run.

    Shapes: x ``[R, m, in]``, W ``[R, in, out]``, b ``[R, out]``, y ``[R, m, out]``.
    """

    def __init__(self, rngs: Sequence[torch.Generator], fan_in: int, fan_out: int) -> None:
        super().__init__()
        self.weight = glorot(rngs, fan_in, fan_out)
        self.bias = zeros(rngs, fan_out)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer of each run to its own rows."""
        return product(x, self.weight, self.bias)


class RunBatchNorm(nn.Module):
    """Batch normalisation (Ioffe & Szegedy, 2015) over the rows of each run.

    The running statistics are parameters without a gradient, so that they are kept, saved and
    selected with the weights that go with them. Shapes: x ``[R, m, d]``, all others ``[R, d]``.

    Args:
        momentum: the share of a batch in the running statistics.
    """

    EPSILON = 1e-5

    def __init__(self, rngs: Sequence[torch.Generator], width: int, momentum: float = 0.1) -> None:
        super().__init__()
        self.momentum = momentum
        self.weight, self.bias = (zeros(rngs, width) for _ in range(2))
        self.mean, self.variance = (zeros(rngs, width) for _ in range(2))
        for parameter in (self.weight, self.variance):
            parameter.data += 1

    def forward(self, x: Tensor, batch: slice | None) -> Tensor:
        """Normalise by the statistics of some of the rows, or by the running ones.

        Args:
            batch: the rows whose statistics count, or None. They join the running ones where a
                gradient is recorded: there the weights learn.
        """
        if batch == slice(None) and x.device.type == "cpu" and x.dtype == self.weight.dtype:
            return self._of_all_rows(x)
        mean, variance = self.mean.detach(), self.variance.detach()
        if batch is not None:
            variance, mean = torch.var_mean(x[:, batch].to(mean.dtype), dim=1, correction=0)
            self._remember(mean, variance)
        scale = self.weight * torch.rsqrt(variance + self.EPSILON)
        return torch.addcmul((self.bias - mean * scale).unsqueeze(1), x, scale.unsqueeze(1))

    def _of_all_rows(self, x: Tensor) -> Tensor:
        """Normalise by the statistics of all rows: PyTorch's kernel, a run at a time."""
        made = [
            torch.native_batch_norm(rows, weight, bias, None, None, True, 0.0, self.EPSILON)
            for rows, weight, bias in zip(x, self.weight, self.bias, strict=True)
        ]
        out, mean, scale = (torch.stack(parts) for parts in zip(*made, strict=True))
        self._remember(mean, (scale**-2 - self.EPSILON).clamp(min=0))
        return out

    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        """Let the statistics of a batch join the running ones, where a gradient is recorded."""
        if torch.is_grad_enabled():
            with torch.no_grad():
                self.mean.lerp_(mean, self.momentum)
                self.variance.lerp_(variance, self.momentum)

    def statistics(self) -> list[nn.Parameter]:
        """Return the running mean and variance."""
        return [self.mean, self.variance]


class RunLayerNorm(nn.Module):
    """Layer normalisation (Ba et al., 2016) of each row. Shapes: ``[R, m, d]``, else ``[R, d]``."""

    EPSILON = 1e-5

    def __init__(self, rngs: Sequence[torch.Generator], width: int) -> None:
        super().__init__()
        self.weight, self.bias = (zeros(rngs, width) for _ in range(2))
        self.weight.data += 1

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the rows, then stretch and shift them as each run has learned."""
        x = functional.layer_norm(x, x.shape[-1:], eps=self.EPSILON)
        return torch.addcmul(self.bias.unsqueeze(1), x, self.weight.unsqueeze(1))


class Dropping(nn.Module):
    """A module that drops elements of embeddings of all nodes."""

    def __init__(self) -> None:
        super().__init__()
        self._ids: dict[tuple[int, int, torch.device], Tensor] = {}

    def ids(self, rows: int, width: int, device: torch.device) -> Tensor:
        """Dropout ids of a whole matrix, worked out once. Shape ``[1, rows, width]``."""
        key = rows, width, device
        if key not in self._ids:
            self._ids[key] = matrix_ids(torch.arange(rows, device=device), width).unsqueeze(0)
        return self._ids[key]

    def dropout_all(self, h: Tensor, noise: Noise | None, site: int) -> Tensor:
        """Inverted dropout of the rows of all nodes, ``[R, n, d]``."""
        if noise is None:
            return h
        if noise.nodes is not None:
            return noise.drop_rows(h, noise.nodes.unsqueeze(0), site)
        return noise.drop(h, self.ids(h.shape[1], h.shape[2], h.device), site)

    def dropout_of(self, h: Tensor, nodes: Tensor | None, noise: Noise | None, site: int) -> Tensor:
        """Inverted dropout of the rows of some nodes, or of all where None. ``[R, m, d]``."""
        if nodes is None or noise is None:
            return self.dropout_all(h, noise, site)
        return noise.drop_rows(h, noise.numbers(nodes), site)
