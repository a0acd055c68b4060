"""H2GCN: a node, its neighbours and their neighbours, never mixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional as F

from ppro.compute.dense import product
from ppro.compute.layers import glorot
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.errors import SettingsError
from ppro.nn.backbones.base import HIDDEN_SITE, dropout
from ppro.nn.network import Inputs, Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.rivals.base import Baseline
from ppro.parts.choices import Kind
from ppro.settings.groups import NetworkSettings
from ppro.settings.space import Space, usual

if TYPE_CHECKING:
    from ppro.graph.core import Graph
    from ppro.settings.settings import Settings

MOST_ROUNDS = 6
"""The width grows as 2^rounds; the original stops at two."""


@dataclass(frozen=True, eq=False)
class TwoHopInputs(Inputs):
    """A graph with the pairs of nodes exactly two steps apart beside its edges.

    Args:
        two_hop: their adjacency, normalised like that of the edges. Neither has self-loops.
    """

    two_hop: Adjacency

    def with_dropped_edges(self, noise: Noise) -> TwoHopInputs:
        """Entries of both adjacencies drop."""
        one, two = self.adjacency.dropped(noise), self.two_hop.dropped(noise)
        return replace(self, adjacency=one, two_hop=two)


class H2GCN(Baseline):
    """Ego, neighbours and higher orders apart (Zhu et al., 2020).

    R_0 = ReLU(X W_e), R_k = [Â_1 R_{k-1} ‖ Â_2 R_{k-1}] for k = 1 .. L, where Â_1 links neighbours
    and Â_2 nodes exactly two steps apart, both without self-loops;
    ŷ = softmax(drop([R_0 ‖ R_1 ‖ ... ‖ R_L]) W_c). L = 1 is H2GCN-1, L = 2 H2GCN-2.

    Nothing but the last representation drops, and no layer has a bias, as in the original, whose
    penalty λ‖W‖² is a ``weight_decay`` of 2λ here.
    """

    name: ClassVar[str] = "h2gcn"
    title: ClassVar[str] = "H2GCN"
    uses_direction: ClassVar[bool] = False
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=({"max_steps": 2, "hidden": 64}, {"max_steps": 1, "hidden": 64}),
            values=usual((0.5, 0.0, 0.7), (1e-3, 2e-5, 1e-2), (0.01, 0.005, 0.05)),
        ),
        "heterophilous": Space(
            shapes=(
                {"max_steps": 1, "hidden": 64, "feature_norm": "row"},
                {"max_steps": 2, "hidden": 64, "feature_norm": "row"},
                {"max_steps": 1, "hidden": 64, "feature_norm": "none"},
                {"max_steps": 2, "hidden": 64, "feature_norm": "none"},
            ),
            values=usual((0.5, 0.0, 0.7), (1e-3, 2e-5, 1e-2), (0.01, 0.005, 0.05)),
        ),
    }

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        if own.max_steps > MOST_ROUNDS:
            raise SettingsError(
                f"h2gcn: max_steps = {own.max_steps} would make the last layer "
                f"{own.hidden * (2 ** (own.max_steps + 1) - 1)} wide; set max_steps to 1 or 2"
            )
        super().__init__()
        self.max_steps = own.max_steps
        self.embedding = glorot(sizes.rngs, sizes.features, own.hidden)
        self.output = glorot(sizes.rngs, own.hidden * (2 ** (own.max_steps + 1) - 1), sizes.classes)

    @classmethod
    def prepare(cls, graph: Graph, settings: Settings, device: torch.device) -> TwoHopInputs:
        """Â_1 and Â_2; self-loops are left out whatever the settings say."""
        base = Inputs.prepare(graph, settings.replace(self_loops=False), device)
        pairs = two_hop_pairs(graph.edge_index, graph.num_nodes)
        two_hop = Adjacency.build(
            pairs, graph.num_nodes, normalisation=settings.inputs.normalisation, self_loops=False
        )
        return TwoHopInputs(base.features, base.adjacency, base.influence, two_hop.to(device))

    def logits(self, inputs: Inputs, rows: Rows, noise: Noise | None) -> Tensor:
        """Return the rows' classes, from the representations of all rounds."""
        assert isinstance(inputs, TwoHopInputs)
        r = F.relu(inputs.features.linear(self.embedding, None))
        seen = [rows.pick(r)]
        for _ in range(self.max_steps):
            r = torch.cat([inputs.adjacency.matmul(r), inputs.two_hop.matmul(r)], dim=-1)
            seen.append(rows.pick(r))
        final = dropout(torch.cat(seen, dim=-1), rows.nodes, noise, HIDDEN_SITE)
        return product(final, self.output)

    def decayed(self) -> list[nn.Parameter]:
        """Both layers, as in the original."""
        return self.theta()


def two_hop_pairs(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Pairs that are exactly two steps apart, both directions, sorted by row. Shape ``[2, P]``."""
    rows, columns = edge_index.cpu().numpy()
    ones = np.ones(len(rows), dtype=np.int32)
    one_hop = sparse.csr_array((ones, (rows, columns)), shape=(num_nodes, num_nodes))
    reached = ((one_hop @ one_hop) > 0).astype(np.int32)
    nearer = one_hop + sparse.eye_array(num_nodes, dtype=np.int32, format="csr")
    pairs = ((reached - nearer) > 0).tocsr()
    pairs.sort_indices()
    found = pairs.tocoo()
    return torch.from_numpy(np.stack([found.row, found.col]).astype(np.int64))
