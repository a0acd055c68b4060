"""The least that an epoch can do: bytes that must move, and operations.

Every matrix of a product is read once and its result written once, whatever a cache can keep
between products; layers that work row by row are part of the product beside them; dropout, losses
and the choice of steps cost nothing. Indices and numbers have four bytes. X counts as the smaller
of its dense and its sparse form. So no program of the same products moves less, and the time over
that floor says how far a program is from what the machine could do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ppro.data import Splits
from ppro.graph.core import Graph
from ppro.settings.settings import PPRO, Settings

NUMBER = 4
ADAM_NUMBERS, ADAM_OPERATIONS = 7, 12
"""Numbers that an update reads and writes for each parameter, and operations on them."""
SMALLEST = 2**20
"""Bytes below which a copy is too short to time."""


@dataclass(frozen=True)
class Work:
    """Bytes that move, and operations on numbers; a multiplication and an addition are two."""

    bytes: float = 0.0
    operations: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.bytes + other.bytes, self.operations + other.operations)

    def __mul__(self, times: float) -> Work:
        return Work(self.bytes * times, self.operations * times)


class Floor:
    """What an epoch of some settings must do on a graph.

    Args:
        runs: how many are trained together; they share Â and X.
    """

    def __init__(self, graph: Graph, splits: Splits, settings: Settings, runs: int = 1) -> None:
        own: Any = settings.network
        self.settings, self.runs, self.nodes = settings, runs, graph.num_nodes
        self.entries = 2 * graph.num_edges + graph.num_nodes
        self.features, self.classes, self.hidden = graph.num_features, graph.num_classes, own.hidden
        self.depth: int = own.max_steps
        self.train, self.val = int(splits.train[0].sum()), int(splits.val[0].sum())
        x = graph.features
        sparse = x.layout == torch.sparse_csr
        self.filled = x.values().shape[0] if sparse else int(x.count_nonzero())
        rows = NUMBER * (self.nodes + 1)
        dense = NUMBER * self.nodes * self.features
        self.x_bytes = min(2 * NUMBER * self.filled + rows, dense)
        self.a_bytes = 2 * NUMBER * self.entries + rows
        self.in_class = settings.model == PPRO and own.form == "class"
        self.width = self.classes if self.in_class else self.hidden

    def epoch(self) -> Work:
        """Return the work of all runs."""
        return self._appnp() if self.settings.model == PPRO else self._rival()

    @property
    def working_set(self) -> float:
        """Bytes that the steps come back to again and again."""
        return self.a_bytes + 3 * self._matrix(self.width)

    def _matrix(self, width: int) -> float:
        return float(NUMBER * self.runs * self.nodes * width)

    def step(self, width: int, matrices: int = 3) -> Work:
        """Return the work of one product with Â, which reads and writes some matrices."""
        operations = 2.0 * self.runs * (self.entries + self.nodes) * width
        return Work(self.a_bytes + matrices * self._matrix(width), operations)

    def first(self, *, backward: bool = False) -> Work:
        """Return the work of h0 from X, or of the gradients of its weights."""
        weights = NUMBER * self.runs * self.features * self.hidden
        operations = 2.0 * self.runs * self.filled * self.hidden
        if self.in_class:
            operations += (2 if backward else 1) * self._layer(self.hidden, self.classes)
        return Work(self.x_bytes + (1 + backward) * weights + self._matrix(self.width), operations)

    def _layer(self, fan_in: int, fan_out: int) -> float:
        return 2.0 * self.runs * self.nodes * fan_in * fan_out

    def controllers(self, rows: int, passes: int = 1) -> Work:
        """Return the work of looking at rows in every step; learning is three passes over them."""
        seen = {"l2b": 2, "l2u": 3}[self.settings.strategy] * self.width
        units = self.settings.controllers.controller_units
        looked = float(self.runs * self.depth * rows)
        return Work(NUMBER * looked * self.width, 2 * passes * looked * units * (seen + 1))

    def adam(self, parameters: float) -> Work:
        """Return the work of one update."""
        count = self.runs * parameters
        return Work(NUMBER * ADAM_NUMBERS * count, ADAM_OPERATIONS * count)

    def _appnp(self) -> Work:
        """Return forward, adjoint and validation; with controllers the second pass besides."""
        learns = self.settings.strategy in ("l2b", "l2u")
        forwards = 3 if learns else 2
        total = (self.step(self.width) * self.depth + self.first()) * forwards
        total += self.step(self.width, 4) * self.depth + self.first(backward=True)
        total += self.adam(self.features * self.hidden + self.hidden * self.classes)
        if learns:
            total += self.controllers(self.train) + self.controllers(self.train, passes=3)
            total += self.controllers(self.val)
            total += self.adam(4 * self.width * self.settings.controllers.controller_units)
        return total

    def _rival(self) -> Work:
        """Return forward, backward and validation of a network whose every step has weights."""
        hidden, name = self.hidden, self.settings.model
        widths = [hidden] * self.depth
        if name == "gcn":
            widths[-1] = self.classes
        weights = {"gcn": 1, "gcnii": 1, "res-gcn": 2}[name]
        total, parameters = self.first() * 2 + self.first(backward=True), self.features * hidden
        for k, width in enumerate(widths):
            layered = weights * hidden * width if k or name != "gcn" else 0
            dense = Work(self._matrix(width), 2.0 * self.runs * self.nodes * layered)
            total += (self.step(width) + dense) * 2 + self.step(width, 4) + dense * 2
            parameters += layered
        total += self.adam(parameters)
        return total


def bandwidth(
    size: float,
    device: torch.device,
    clock: Callable[[], float] = time.perf_counter,
    seconds: float = 0.2,
) -> float:
    """Return bytes a second that this machine moves, measured by copies of that many bytes.

    What fits a cache moves faster than what does not. The fastest of many copies counts.
    """
    count = int(max(size, SMALLEST)) // (2 * NUMBER)
    source = torch.ones(count, device=device)
    target, best = torch.empty_like(source), float("inf")
    end = time.perf_counter() + seconds
    while best == float("inf") or time.perf_counter() < end:
        begin = clock()
        for _ in range(10):
            target.copy_(source)
        if device.type == "cuda":
            torch.cuda.synchronize()
        best = min(best, clock() - begin)
    return 10 * 2 * NUMBER * count / best


def kernels_of(work: Any) -> int:
    """Return how many kernels a call starts on the GPU."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as found:
        work()
        torch.cuda.synchronize()
    on_device = [event for event in found.events() if str(event.device_type).endswith("CUDA")]
    return sum(not event.name.startswith(("Memcpy", "Memset")) for event in on_device)
