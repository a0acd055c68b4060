"""JKNet with DropEdge as it was published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from ppro.compute.attention import Pattern
from ppro.compute.noise import Noise
from ppro.compute.propagation import EDGE_SITE, Adjacency
from ppro.nn.network import Inputs
from ppro.nn.rivals.jknet import JKNet
from ppro.parts.choices import Kind, Normalisation
from ppro.settings.space import Space

if TYPE_CHECKING:
    from ppro.graph.core import Graph
    from ppro.settings.settings import Settings


class DropEdge(Adjacency):
    """An adjacency that is normalised anew after its edges are dropped (Rong et al., 2020).

    Â' = D'^-1/2 A' D'^-1/2 (symmetric) or D'^-1 A' (row), A' being A without the dropped edges;
    self-loops are never dropped. Both directions of an edge share their fate, where the original
    drops them one by one; :meth:`ppro.compute.propagation.Adjacency.dropped` keeps the entries of Â
    instead and scales them by 1 / (1 - rate).

    Args:
        whole: Â with all edges.
        edge_weight: the weights of the edges, sorted as its entries are, or None for 1.
        normalisation: that of Â.
    """

    def __init__(
        self, whole: Adjacency, edge_weight: Tensor | None, normalisation: Normalisation
    ) -> None:
        super().__init__(whole.matrix, whole.adjoint)
        self.normalisation = normalisation
        self.pattern = Pattern.of(whole.matrix)
        self.loops = self.pattern.rows == self.pattern.columns
        self.weights = torch.ones_like(whole.matrix.values())
        if edge_weight is not None:
            self.weights[~self.loops] = edge_weight.to(self.weights)

    def dropped(self, noise: Noise) -> Adjacency:
        """Return the adjacency of a pass."""
        kept = noise.scale(self.edge_ids, EDGE_SITE, noise.edge_rates) > 0
        values = self.weights * (kept | self.loops)
        degree = self.pattern.row_sums(values)
        scale = torch.where(degree > 0, degree, 1.0).rsqrt()
        symmetric = self.normalisation == "symmetric"
        of_other_end = self.pattern.of_columns if symmetric else self.pattern.of_rows
        values = values * self.pattern.of_rows(scale) * of_other_end(scale)
        adjoint_values = values if symmetric else values.index_select(1, self.pattern.order)
        return Adjacency(self.matrix, self.adjoint, values, adjoint_values)


class JKNetDrop(JKNet):
    """Jumping knowledge over a graph that loses edges in every epoch, all layers the same ones."""

    name: ClassVar[str] = "jknet-drop"
    title: ClassVar[str] = "JKNet (Drop)"
    uses_direction: ClassVar[bool] = False
    spaces: ClassVar[Mapping[Kind, Space]] = {
        kind: replace(space, values={"edge_dropout": (0.5, 0.2, 0.8), **space.values})
        for kind, space in JKNet.spaces.items()
    }

    @classmethod
    def prepare(cls, graph: Graph, settings: Settings, device: torch.device) -> Inputs:
        """Return the graph as usual, with an adjacency that DropEdge acts on."""
        inputs = super().prepare(graph, settings, device)
        whole, weight = inputs.adjacency, graph.edge_weight
        return replace(inputs, adjacency=DropEdge(whole, weight, settings.inputs.normalisation))
