"""What the trainer asks of a network, and the graph, rows and outcome that pass between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import torch
from torch import Tensor, nn

from ppro.compute.features import Features, normalised
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency, mean_of_neighbours
from ppro.compute.ranks import ALONE, Ranks
from ppro.graph.direction import read_edges
from ppro.nn.part import NetworkSizes, Part
from ppro.nn.priority import Edges, influence, standardised
from ppro.parts import RIVALS

if TYPE_CHECKING:
    from ppro.graph.core import Graph
    from ppro.settings.settings import Settings


@dataclass(frozen=True, eq=False)
class Inputs:
    """A graph prepared for one network: normalised, on its device.

    Args:
        influence: the priority measures that the graph alone decides. Shape ``[n, measures]``.
        ranks: the processes that hold the graph; here all of it.
        nodes: the numbers of the nodes in the whole graph, or None where these are all. ``[n]``.
    """

    features: Features
    adjacency: Adjacency
    influence: Tensor
    ranks: Ranks = field(default=ALONE, kw_only=True)
    nodes: Tensor | None = field(default=None, kw_only=True)

    @classmethod
    def prepare(cls, graph: Graph, settings: Settings, device: torch.device) -> Inputs:
        """Normalise features and adjacency and compute the priorities that never change."""
        wanted = settings.inputs
        x = normalised(graph.features, wanted.form)
        read, weight = read_edges(graph, wanted.direction)
        adjacency = Adjacency.build(
            read,
            graph.num_nodes,
            edge_weight=weight,
            normalisation=wanted.normalisation,
            self_loops=wanted.self_loops,
            directed=wanted.direction != "both",
        )
        edges = Edges(graph.edge_index, graph.num_nodes)
        z = influence(edges, settings.controllers.measures).to(torch.float32)
        return Inputs(Features(x.to(device)), adjacency.to(device), z.to(device))

    @property
    def num_nodes(self) -> int:
        """n."""
        return int(self.influence.shape[0])

    @cached_property
    def neighbours(self) -> Adjacency:
        """The mean over the neighbours of a node, itself left out; zero where it has none."""
        return mean_of_neighbours(self.adjacency.matrix)

    def standardised(self, measure: Tensor, which: int = 0) -> Tensor:
        """Return a measure of these nodes, standardised over all nodes of the graph. ``[R, n]``.

        Args:
            which: its number among the measures of embeddings.
        """
        return standardised(measure)

    def with_dropped_edges(self, noise: Noise) -> Inputs:
        """Return the same graph with the edges that a pass drops."""
        return replace(self, adjacency=self.adjacency.dropped(noise))


@dataclass(frozen=True, eq=False)
class Rows:
    """The nodes that a forward pass answers for, run by run; short runs are padded.

    Args:
        nodes: node of each row. Shape ``[R, m]``.
        labels: their classes, 0 where padded. Shape ``[R, m]``.
        valid: 1 for a node, 0 for padding. Shape ``[R, m]``, float.
        free: how many rows, from the first, PPro's controllers choose a step for; those that
            follow take full depth. None for all.
        total: the sum of ``valid`` over all ranks, or None where all rows are here. ``[R]``.
        whole: whether the rows are all nodes in their order, so that none need be picked.
    """

    nodes: Tensor
    labels: Tensor
    valid: Tensor
    free: int | None = None
    total: Tensor | None = None
    whole: bool = False

    def flat(self, num_nodes: int) -> Tensor:
        """Position of each row in embeddings ``[R * n, d]``. Shape ``[R, m]``."""
        runs = torch.arange(self.nodes.shape[0], device=self.nodes.device)
        return self.nodes + num_nodes * runs.unsqueeze(1)

    def pick(self, h: Tensor) -> Tensor:
        """Return the rows of embeddings of all nodes. Shapes: ``[R, n, d]`` to ``[R, m, d]``."""
        return h.reshape(-1, h.shape[-1])[self.flat(h.shape[1])]

    def select(self, runs: Tensor) -> Rows:
        """Return the rows of some of the runs."""
        total = None if self.total is None else self.total[runs]
        return Rows(self.nodes[runs], self.labels[runs], self.valid[runs], self.free, total)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a forward pass says of its rows.

    Shapes: logits ``[R, m, c]``; embedding ``[R, m, d]``; steps and weights ``[R, m]``.
    """

    logits: Tensor
    embedding: Tensor
    steps: Tensor
    weights: Tensor


class Network(nn.Module, Part, ABC):
    """A node classifier of R runs at once: PPro, or one of its rivals.

    θ learns from the training nodes. A network that learns φ besides (controllers) says by
    :attr:`judged_on` whose labels φ learns from.

    Attributes:
        judged_on: "train", or "val" for a method whose paper lets φ see validation labels.
        capturable: whether a pass never waits for the device, so that a CUDA graph can hold it.
        run_buffers: names of attributes whose first dimension is the run, apart from parameters.
    """

    judged_on: ClassVar[Literal["train", "val"]] = "train"
    run_buffers: ClassVar[tuple[str, ...]] = ()
    capturable: bool = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            RIVALS.register(cls.name, cls)

    @classmethod
    def prepare(cls, graph: Graph, settings: Settings, device: torch.device) -> Inputs:
        """Return what the network wants of a graph."""
        return Inputs.prepare(graph, settings, device)

    @classmethod
    @abstractmethod
    def from_settings(cls, sizes: NetworkSizes, settings: Sequence[Settings]) -> Self:
        """Return the network of these settings, one per run, with its initial weights."""

    @abstractmethod
    def forward(self, inputs: Inputs, rows: Rows, noise: Noise | None = None) -> Outcome:
        """What it says of the rows; with ``noise`` as in training, without as in prediction."""

    def theta(self) -> list[nn.Parameter]:
        """θ: what learns to classify."""
        return list(self.parameters())

    def phi(self) -> list[nn.Parameter]:
        """φ: what :meth:`controller_loss` teaches."""
        return []

    def controller_loss(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Return the loss of φ, whose gradient reaches nothing else. Shape ``[R]``."""
        raise NotImplementedError(f"{type(self).__name__} has no φ")

    def scaled(
        self, weights: Tensor, valid: Tensor, total: Tensor | None = None, ranks: Ranks = ALONE
    ) -> Tensor:
        """Return the priorities of training rows as L_g takes them.

        Args:
            weights: w, of one pass or of several. Shape ``[..., R, m]``.
            valid: as of :class:`Rows`, and ``total`` likewise.
        """
        return weights

    def settle(self, inputs: Inputs, rows: Rows) -> None:
        """Learn what a trained network is still to learn from its training rows."""

    def reach(self) -> int | None:
        """How many hops away a node can matter to another's prediction; None where unknown."""
        return None
