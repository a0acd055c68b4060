"""The part of a graph that a rank holds, prepared for a network."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.distributed.adjacency import ShardAdjacency
from ppro.distributed.features import shard_features
from ppro.distributed.group import RankGroup
from ppro.distributed.halo import Halo, HaloPlan
from ppro.distributed.local_rows import rows_of
from ppro.distributed.measures import ShardEdges, moments_over
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.nn.network import Inputs, Rows
from ppro.nn.priority import Edges, influence, standardised
from ppro.settings.settings import Settings
from ppro.training.assembly import rows_from_masks
from ppro.training.class_weights import weighted

CPU = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class ShardInputs(Inputs):
    """Inputs of the nodes of a rank; ``nodes`` and ``ranks`` say which and whose.

    Args:
        whole: nodes of the whole graph.
    """

    whole: int

    def standardised(self, measure: Tensor, which: int = 0) -> Tensor:
        """A measure of the nodes of this rank, standardised over those of all. ``[R, n]``."""
        return standardised(measure, by=moments_over(measure, self.ranks, self.whole))


@dataclass(frozen=True, eq=False)
class Shard:
    """What a rank holds of a graph and its splits; nothing in it is as long as the graph.

    Args:
        labels: of the nodes of this rank. Shape ``[n]``.
        splits: their parts. Shapes ``[R, n]``.
    """

    plan: HaloPlan
    inputs: ShardInputs
    labels: Tensor
    splits: Splits
    num_features: int
    num_classes: int

    @classmethod
    def cut(
        cls,
        graph: Graph,
        splits: Splits,
        owner: Tensor,
        settings: Settings,
        ranks: RankGroup,
        device: torch.device,
    ) -> Shard:
        """Return the part of this rank.

        Args:
            owner: the rank of each node. Shape ``[n]``.
        """
        plan = HaloPlan.make(graph, owner, ranks)
        halo = Halo(plan, ranks, CPU)
        rows = rows_of(graph, plan.nodes, self_loops=settings.inputs.self_loops)
        adjacency = ShardAdjacency.build_shard(rows, halo, settings.inputs.normalisation)
        measures = settings.controllers.measures
        if isinstance(graph, LargeGraph):
            edges = ShardEdges(adjacency.rows, halo, self_loops=settings.inputs.self_loops)
            z = influence(edges, measures)
        else:
            # A graph that every rank has in memory is quicker done alone than by many exchanges.
            z = influence(Edges(graph.edge_index, graph.num_nodes), measures)[plan.nodes]
        inputs = ShardInputs(
            shard_features(graph, plan.nodes, settings.inputs.form, device),
            adjacency.to(device),
            z.to(torch.float32).to(device),
            graph.num_nodes,
            ranks=ranks,
            nodes=plan.nodes.to(device),
        )
        parts = (mask[:, plan.nodes] for mask in (splits.train, splits.val, splits.test))
        own = Splits(splits.name, *parts)
        labels = graph.labels[plan.nodes]
        return cls(plan, inputs, labels, own, graph.num_features, graph.num_classes)

    @property
    def device(self) -> torch.device:
        """Return where the inputs are."""
        return self.inputs.influence.device

    def rows(self, masks: Tensor, weights: Tensor | None = None) -> Rows:
        """Return the nodes of each run's mask as rows, and how many there are on all ranks.

        Args:
            masks: of the nodes of this rank. Shape ``[R, n]``.
            weights: of each class in each run, or None. Shape ``[R, c]``.
        """
        found = weighted(rows_from_masks(masks, self.labels, self.device), weights)
        total = self.inputs.ranks.sum(found.valid.sum(1, dtype=torch.float64))
        if found.nodes.shape[1]:
            return Rows(found.nodes, found.labels, found.valid, total=total)
        # A rank without any still takes part, with a row that counts nothing.
        blank = torch.zeros(masks.shape[0], 1, dtype=torch.int64, device=self.device)
        return Rows(blank, blank, blank.to(found.valid.dtype), total=total)

    def all_rows(self, runs: int) -> Rows:
        """Return every node of this rank as a row of every run."""
        nodes = torch.arange(self.labels.shape[0], device=self.device).expand(runs, -1)
        return Rows(nodes, torch.zeros_like(nodes), torch.ones_like(nodes, dtype=torch.float32))
