"""Predictions, costs and rows of a few runs, in float64."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

from tests.support import tensor64


@dataclass(frozen=True, eq=False)
class Seen:
    """What controllers are shown and judged by.

    Shapes: p and near ``[L + 1, R, m, c]``; z ``[R, m, 2]``; valid and labels ``[R, m]``; cost
    ``[L + 1, R, m]``.
    """

    p: Tensor
    near: Tensor
    z: Tensor
    valid: Tensor
    labels: Tensor
    cost: Tensor

    @property
    def last(self) -> int:
        return self.p.shape[0] - 1


@dataclass(frozen=True)
class Sizes:
    steps: int
    runs: int
    rows: int
    classes: int
    seed: int

    def draw(self) -> Seen:
        """Numbers at random; the last row of the first run is padding, others weigh differently."""
        shape = self.steps + 1, self.runs, self.rows, self.classes
        p, near = (2 * tensor64(*shape, seed=self.seed + i) for i in range(2))
        rng = torch.Generator().manual_seed(self.seed)
        labels = torch.randint(self.classes, shape[1:3], generator=rng)
        valid = 0.5 + torch.rand(shape[1:3], generator=rng, dtype=torch.float64)
        if self.rows > 1:
            valid[0, -1] = 0
        z, cost = tensor64(*shape[1:3], 2, seed=self.seed + 2), tensor64(*shape[:3], seed=9)
        return Seen(p.softmax(-1), near.softmax(-1), z, valid, labels, cost.abs())


SIZES = st.builds(
    Sizes,
    steps=st.integers(1, 5),
    runs=st.integers(1, 3),
    rows=st.integers(1, 6),
    classes=st.integers(2, 4),
    seed=st.integers(0, 999),
)


def naive_mean(values: list[float], weights: list[float]) -> float:
    """Σ v w / Σ w."""
    return sum(v * w for v, w in zip(values, weights, strict=True)) / max(sum(weights), 1e-9)
