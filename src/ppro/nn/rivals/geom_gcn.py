"""Geom-GCN: neighbours in the graph and in a plane, told apart by their direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.dense import product
from ppro.compute.layers import glorot
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.compute.sparse import compact, csr, transpose
from ppro.errors import SettingsError
from ppro.nn.backbones.base import HIDDEN_SITE
from ppro.nn.network import Inputs, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.base import Baseline
from ppro.nn.rivals.isomap import Places, components, places
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space, usual

if TYPE_CHECKING:
    from ppro.graph.core import Graph
    from ppro.settings.settings import Settings

MOST_NODES = 10_000
"""Isomap and the latent neighbourhoods hold a number for every pair of nodes."""

RELATIONS = 9
"""Four quadrants in the graph, four in the latent space, and the node itself."""


@dataclass(frozen=True, eq=False)
class RelationInputs(Inputs):
    """A graph split into relations.

    Args:
        relations: the adjacency of each, all normalised by the degrees of their sum.
    """

    relations: tuple[Adjacency, ...]

    def with_dropped_edges(self, noise: Noise) -> RelationInputs:
        """Entries of every relation drop."""
        return replace(self, relations=tuple(a.dropped(noise) for a in self.relations))


class GeomGCN(Baseline):
    """Geometric aggregation (Pei et al., 2020) in two layers, as Geom-GCN-I: places by Isomap.

    H = ReLU(‖_r Â_r drop(X) W_r), ŷ = softmax((1/9) Σ_r Â_r drop(H) V_r), r = 1 .. 9.

    The relations are the quadrants in which a neighbour lies as seen from a node, four for its
    neighbours in the graph and four for those in the latent space, and the node itself;
    Â_r = D^-1/2 A_r D^-1/2 with D the degrees of Σ_r A_r. A node's neighbours in the latent space
    are those of its own component within a radius, the smallest with which there are at least as
    many such pairs as edges. A pair that is near in both is latent, as in the original's code. The
    settings ``normalisation`` and ``self_loops`` and the weights of edges play no part.

    The original lowers its learning rate when validation stalls; here it is constant.
    """

    name: ClassVar[str] = "geom-gcn"
    title: ClassVar[str] = "Geom-GCN"
    uses_weights: ClassVar[bool] = False
    uses_direction: ClassVar[bool] = False
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=({"hidden": 16}, {"hidden": 32}),
            values=usual((0.5, 0.2, 0.8), (5e-6, 5e-4, 5e-3), (0.05, 0.01, 0.005)),
        ),
        "heterophilous": Space(
            shapes=(
                {"hidden": 32, "feature_norm": "row"},
                {"hidden": 48, "feature_norm": "row"},
                {"hidden": 32, "feature_norm": "none"},
                {"hidden": 48, "feature_norm": "none"},
            ),
            values=usual((0.5, 0.2, 0.8), (5e-5, 5e-6, 5e-4), (0.05, 0.01, 0.005)),
        ),
    }

    max_steps: int = 2

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        super().__init__()
        self.weight1 = _side_by_side(sizes.rngs, sizes.features, own.hidden)
        self.weight2 = _side_by_side(sizes.rngs, RELATIONS * own.hidden, sizes.classes)

    @classmethod
    def prepare(cls, graph: Graph, settings: Settings, device: torch.device) -> RelationInputs:
        """Return the nine relations of the graph.

        Raises:
            SettingsError: the graph is too large for Isomap.
        """
        if graph.num_nodes > MOST_NODES:
            raise SettingsError(
                f"geom-gcn: Isomap of {graph.num_nodes:,} nodes would need a number for every pair "
                f"of them; take a graph of at most {MOST_NODES:,} nodes or another model"
            )
        base = Inputs.prepare(graph, settings, device)
        found = relations(graph.edge_index.cpu().numpy(), graph.num_nodes)
        return RelationInputs(
            base.features, base.adjacency, base.influence, tuple(a.to(device) for a in found)
        )

    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Both layers: the first one's virtual nodes side by side, the second one's averaged."""
        assert isinstance(inputs, RelationInputs)
        h = torch.cat(_aggregates(inputs, inputs.features.linear(self.weight1, noise)), dim=-1)
        h = self.dropout_all(F.relu(h), noise, HIDDEN_SITE)
        parts = _aggregates(inputs, product(h, self.weight2))
        return rows.pick(torch.stack(parts).mean(0))

    def decayed(self) -> list[nn.Parameter]:
        """Both layers, as in the original."""
        return self.theta()


def relations(edges: NDArray[np.int64], num_nodes: int) -> list[Adjacency]:
    """The adjacencies Â_r: graph and latent neighbours by quadrant, then the nodes themselves."""
    where = places(edges, num_nodes)
    near = latent_pairs(where, components(edges, num_nodes), edges.shape[1] // 2)
    is_latent = np.isin(_codes(edges, num_nodes), _codes(near, num_nodes))
    nodes = np.arange(num_nodes)
    groups = [
        *_by_quadrant(edges[:, ~is_latent], where),
        *_by_quadrant(near, where),
        np.stack([nodes, nodes]),
    ]
    degree = np.bincount(np.concatenate([pairs[0] for pairs in groups]), minlength=num_nodes)
    return [_adjacency(pairs, degree, num_nodes) for pairs in groups]


def latent_pairs(where: Places, component: NDArray[np.int32], wanted: int) -> NDArray[np.int64]:
    """Pairs of a component within the smallest radius that gives at least ``wanted`` of them.

    Nodes in the same place are pairs together or not at all, so there may be many more.

    Returns:
        Both directions of every pair, sorted by row. Shape ``[2, P]``.
    """
    # Components moved out of each other's reach: their places have nothing to do with another.
    spread = 1 + 4 * np.abs(where).max()
    from scipy.spatial.distance import pdist

    distance = pdist(where + spread * component[:, None])
    radius = np.partition(distance, wanted - 1)[wanted - 1] if wanted else -1.0
    rows, columns = _of_condensed(np.flatnonzero(distance <= radius), len(where))
    both = np.concatenate([[rows, columns], [columns, rows]], axis=1)
    ordered: NDArray[np.int64] = both[:, np.lexsort(both[::-1])]
    return ordered


def _of_condensed(index: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row and column of entries of ``pdist``: the upper triangle, row by row."""
    ends = np.cumsum(np.arange(n - 1, 0, -1))
    rows = np.searchsorted(ends, index, side="right")
    return rows, index - ends[rows] + n


def _by_quadrant(pairs: NDArray[np.int64], where: Places) -> list[NDArray[np.int64]]:
    """Return the pairs (i, j) by whether j lies right of i and whether it lies above."""
    right, above = (where[pairs[1]] > where[pairs[0]]).T
    return [pairs[:, (right == r) & (above == a)] for r in (False, True) for a in (False, True)]


def _adjacency(pairs: NDArray[np.int64], degree: NDArray[np.int64], num_nodes: int) -> Adjacency:
    rows, columns = torch.from_numpy(pairs)
    scale = torch.from_numpy(degree).double().rsqrt()
    values = (scale[rows] * scale[columns]).float()
    matrix = compact(csr(rows, columns, values, (num_nodes, num_nodes)))
    return Adjacency(matrix, transpose(matrix)[0])


def _codes(pairs: NDArray[np.int64], num_nodes: int) -> NDArray[np.int64]:
    codes: NDArray[np.int64] = pairs[0] * num_nodes + pairs[1]
    return codes


def _side_by_side(rngs: Sequence[torch.Generator], fan_in: int, fan_out: int) -> nn.Parameter:
    """Return the weights of every relation. Shape ``[R, fan_in, 9 * fan_out]``."""
    parts = [glorot(rngs, fan_in, fan_out).detach() for _ in range(RELATIONS)]
    return nn.Parameter(torch.cat(parts, dim=-1))


def _aggregates(inputs: RelationInputs, z: Tensor) -> list[Tensor]:
    """Â_r Z_r of each relation, Z = [Z_1 ‖ ... ‖ Z_9]."""
    parts = z.chunk(RELATIONS, dim=-1)
    return [a.matmul(part) for a, part in zip(inputs.relations, parts, strict=True)]
