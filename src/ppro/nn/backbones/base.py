"""What PPro asks of a graph neural network: an initial embedding, a step, a classifier."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor

from ppro.compute.features import Features
from ppro.compute.layers import Dropping
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn.part import Part
from ppro.parts import BACKBONES

HIDDEN_SITE = 1
STATE_SITE = 5
STEP_SITE = 10
"""Dropout sites of the classifier's input, of h_0 before it propagates, and of step k:
``STEP_SITE + k``."""


class Backbone(Dropping, Part, ABC):
    """A graph neural network whose propagation PPro controls.

    It is made from :class:`NetworkSizes` and settings of its ``settings_class``.

    Embeddings of all nodes have shape ``[R, n, d]``, rows picked from them ``[R, m, d]``: one
    call serves all R runs, and a run's embeddings lie together in memory.
    A backbone that is linear in h0 between :meth:`embed` and :meth:`classify` sets ``alpha`` and
    gets a backward pass whose memory does not grow with the depth.

    Attributes:
        width: d, the size of the embeddings that propagate.
        alpha: the teleport share of a linear recursion h_k = (1-α) Â h_{k-1} + α h_0, or None.
        capturable: whether a pass never waits for the device, so that a CUDA graph can hold it.
        shareable: whether its steps touch other nodes through ``Adjacency.matmul`` alone, so that
            several processes can share a graph.
        hops: how many hops a step reaches, or None where that is not known.
        hops_before: how many hops h^(0) reaches.
    """

    width: int
    alpha: float | None = None
    capturable: bool = True
    shareable: ClassVar[bool] = False
    hops: ClassVar[int | None] = None
    hops_before: ClassVar[int] = 0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            BACKBONES.register(cls.name, cls)

    @abstractmethod
    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """h^(0) = f_θ(X). Shape ``[R, n, d]``, contiguous or one matrix shared by all runs."""

    def initial(self, x: Features, adjacency: Adjacency, noise: Noise | None) -> Tensor:
        """h^(0); only a backbone whose first layer sees neighbours needs more than ``embed``."""
        return self.embed(x, noise)

    @abstractmethod
    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """Step k: ĥ^(k) = AGGREGATE(h^(k-1)) (Eq. 1) and h^(k) = UPDATE(...) (Eq. 2)."""

    def comparable(
        self, h0: Tensor, aggregate: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> Tensor:
        """Return what the neighbours hold of h^(0), which Eq. 5 compares with h^(0) itself.

        That is ĥ^(1), unless the step puts weights or dropout between the two: a backbone whose
        step does aggregates h^(0) as it is.

        Args:
            aggregate: ĥ^(1) as the first step gave it. Shape ``[R, n, d]``.
        """
        return aggregate

    @abstractmethod
    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """Logits of ŷ for the given rows. Shapes: ``[R, m, d]`` twice to ``[R, m, c]``."""

    def class_scores(self, h0: Tensor) -> tuple[Tensor, Tensor] | None:
        """Return s and t such that the logits of step k, without dropout, are s^(k) + t.

        s propagates as h^(0) does, which is the cheaper the fewer classes there are. None where the
        backbone is not linear, or its classifier is not.

        Shapes: h0 ``[R, n, d]``; s and t ``[R, n, c]``, t perhaps one row for all nodes.
        """
        return None

    def dropout_step(self, h: Tensor, noise: Noise | None, k: int) -> Tensor:
        """Inverted dropout in step k of the rows of all nodes, ``[R, n, d]``."""
        return self.dropout_all(h, noise, STEP_SITE + k)


class LinearBackbone(Backbone):
    """A backbone whose steps are APPNP's: h_k = (1-α) Â h_{k-1} + α h_0, without weights."""

    hops: ClassVar[int | None] = 1

    alpha: float

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        """ĥ = Â h and (1-α) ĥ + α h0."""
        aggregate = adjacency.matmul(h)
        return aggregate, torch.lerp(aggregate, h0, self.alpha)


def dropout(h: Tensor, rows: Tensor, noise: Noise | None, site: int) -> Tensor:
    """Inverted dropout of rows ``[R, m, d]`` that belong to the nodes ``rows`` ``[R, m]``."""
    if noise is None:
        return h
    return noise.drop_rows(h, noise.numbers(rows), site)
