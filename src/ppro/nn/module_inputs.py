"""What the module gives the network: a list of edges, features and dropout as plain tensors.

The batched network works on prepared graphs with products and dropout of its own. Here everything
is recorded by autograd instead, so that gradients reach features, edge weights and the masks of an
explainer, and PyTorch's generator decides the dropout.
"""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional as F
from torch_geometric.nn import MessagePassing

from ppro.compute.attention import SLOPE, Entries
from ppro.compute.features import FEATURE_SITE, Features
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.compute.sparse import from_rows, with_values
from ppro.nn.network import Inputs
from ppro.nn.priority import standardised
from ppro.parts.choices import Normalisation


class WeightedSum(MessagePassing):  # type: ignore[misc]
    """Σ_j a_ij h_j over the edges (j, i). It has no parameters.

    The one place where messages pass, so that PyTorch Geometric's explainers find it.
    """

    def __init__(self) -> None:
        super().__init__(aggr="add", node_dim=0)

    def forward(self, edge_index: Tensor, weight: Tensor, h: Tensor) -> Tensor:
        """Add up. Shapes: weight ``[E, ...]``, h ``[n, ..., d]`` to ``[n, ..., d]``."""
        size = (h.shape[0], h.shape[0])
        total: Tensor = self.propagate(edge_index, weight=weight, h=h, size=size)
        return total

    def message(self, h_j: Tensor, weight: Tensor) -> Tensor:
        """a_ij h_j."""
        return weight.unsqueeze(-1) * h_j


class EdgeAdjacency(Adjacency):
    """Â over a list of edges, whose products autograd records.

    A self-loop in the list keeps its weight as the node's own; other nodes get one of weight 1,
    as in PyTorch Geometric's ``gcn_norm``.

    Args:
        edge_index: sources and targets. Shape ``[2, E]``.
        edge_weight: Shape ``[E]``; None for 1.
        num_nodes: n.
        dtype: that of sums and weights.
    """

    recorded = True

    def __init__(
        self,
        weighted_sum: WeightedSum,
        edge_index: Tensor,
        edge_weight: Tensor | None,
        num_nodes: int,
        dtype: torch.dtype,
        *,
        normalisation: Normalisation = "symmetric",
        self_loops: bool = True,
    ) -> None:
        self.weighted_sum, self.edge_index, self.edge_weight = weighted_sum, edge_index, edge_weight
        self.num_nodes, self.dtype = num_nodes, dtype
        self.normalisation, self.self_loops = normalisation, self_loops
        self.values = self.adjoint_values = None
        self._normalised: tuple[Tensor, Tensor] | None = None
        self._product: Adjacency | None = None
        self.entries = EdgeEntries(self)

    def matmul(self, h: Tensor) -> Tensor:
        """Â h, differentiable in h and the weights of edges. Shape ``[1, n, d]``."""
        if self._normalised is None:
            self._normalised = self._normalise()
        weight, loops = self._normalised
        # Under autocast h may be of less precision than what it is added to.
        rows = h[0].to(self.dtype)
        if self._needs_no_messages(weight, rows):
            if self._product is None:
                self._product = sparse_adjacency(self.edge_index, weight, loops)
            return self._product.matmul(rows.unsqueeze(0))
        passed: Tensor = self.weighted_sum(self.edge_index, weight, rows)
        return (passed + loops.unsqueeze(-1) * rows).unsqueeze(0)

    def means(self) -> Adjacency:
        """D^-1 A over the same edges: neighbours count alike, and the node itself does not."""
        edges = self.edge_index, self.apart().to(self.dtype), self.num_nodes, self.dtype
        form: dict[str, Any] = {"normalisation": "row", "self_loops": False}
        return EdgeAdjacency(self.weighted_sum, *edges, **form)

    def _needs_no_messages(self, weight: Tensor, h: Tensor) -> bool:
        """Tell whether a sparse product will do, which is faster on a CPU and stores less."""
        if torch.compiler.is_compiling() or h.device.type != "cpu" or weight.requires_grad:
            return False
        return not self.weighted_sum.explain and h.dtype in (torch.float32, torch.float64)

    def apart(self) -> Tensor:
        """Return which edges lead from one node to another. Shape ``[E]``, bool."""
        return self.edge_index[0] != self.edge_index[1]

    def _normalise(self) -> tuple[Tensor, Tensor]:
        """Return the entries of Â at the edges, and on the diagonal. Shapes ``[E]`` and ``[n]``."""
        source, target = self.edge_index
        # In half precision one could not count the neighbours of a node of high degree.
        exact = torch.promote_types(self.dtype, torch.float32)
        if self.edge_weight is None:
            weight = torch.ones(source.shape[0], dtype=exact, device=source.device)
        else:
            weight = self.edge_weight.to(exact)
        loops = weight.new_zeros(self.num_nodes)
        if self.self_loops:
            weight, loops = self._with_loops(weight, target)
        degree = loops.index_add(0, target, weight)
        power = -0.5 if self.normalisation == "symmetric" else -1.0
        scale = torch.where(degree > 0, degree, 1.0).pow(power)
        weight, loops = weight * scale[target], loops * scale
        if self.normalisation == "symmetric":
            weight, loops = weight * scale[source], loops * scale
        return weight.to(self.dtype), loops.to(self.dtype)

    def _with_loops(self, weight: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Move the weights of self-loops to the nodes; nodes without one get 1."""
        apart = self.apart()
        # Edges between two nodes write into one place behind the last node.
        place = torch.where(apart, self.num_nodes, target)
        loops = weight.new_ones(self.num_nodes + 1).scatter(0, place, weight)[:-1]
        return torch.where(apart, weight, 0.0), loops


def sparse_adjacency(edge_index: Tensor, weight: Tensor, loops: Tensor) -> Adjacency:
    """Return Â as a matrix, from its entries at the edges and on the diagonal, on a CPU."""
    nodes = np.arange(loops.shape[0])
    source, target = edge_index.numpy()
    places = np.concatenate([target, nodes]), np.concatenate([source, nodes])
    entries = torch.cat([weight, loops]).detach().numpy()
    matrix = sp.coo_matrix((entries, places), shape=(nodes.size, nodes.size)).tocsr()
    return Adjacency(*(_as_tensor(part) for part in (matrix, matrix.T.tocsr())))


def _as_tensor(matrix: sp.csr_matrix) -> Tensor:
    starts, columns = torch.from_numpy(matrix.indptr), torch.from_numpy(matrix.indices)
    return from_rows(starts, columns, torch.from_numpy(matrix.data))


class EdgeEntries(Entries):
    """The entries of Â for attention: the edges, then the self-loops where they are added."""

    def __init__(self, adjacency: EdgeAdjacency) -> None:
        self.adjacency = adjacency

    def scale(self, noise: Noise, heads: int, site: int) -> Tensor:
        """Return what dropout multiplies coefficients with. Shape ``[1, heads, entries]``."""
        adjacency = self.adjacency
        loops = adjacency.num_nodes if adjacency.self_loops else 0
        shape = 1, heads, adjacency.edge_index.shape[1] + loops
        like = torch.empty(shape, dtype=adjacency.dtype, device=adjacency.edge_index.device)
        return noise.scale(like, site)

    def coefficients(self, target: Tensor, source: Tensor) -> Tensor:
        """Return the softmax over j of LeakyReLU(t_i + s_j). ``[B, n]`` twice to ``[B, E + n]``."""
        sources, targets = self.adjacency.edge_index
        score = F.leaky_relu(target[:, targets] + source[:, sources], SLOPE)
        if self.adjacency.self_loops:
            score = score.masked_fill(~self.adjacency.apart(), -torch.inf)
            score = torch.cat([score, F.leaky_relu(target + source, SLOPE)], dim=1)
            nodes = torch.arange(self.adjacency.num_nodes, device=targets.device)
            targets = torch.cat([targets, nodes])
        place = targets.expand_as(score)
        lowest = torch.full_like(target, torch.finfo(score.dtype).min)
        highest = lowest.scatter_reduce(1, place, score.detach(), "amax")
        e = torch.exp(score - highest[:, targets])
        total = torch.zeros_like(target).scatter_add(1, place, e)
        return e / total[:, targets]

    def mixture(self, a: Tensor, z: Tensor) -> Tensor:
        """Return Σ_j a_ij z_j. Shapes: a ``[B, E + n]``, z ``[B, n, d]`` to ``[B, n, d]``."""
        edges = self.adjacency.edge_index
        between, own = a[:, : edges.shape[1]], a[:, edges.shape[1] :]
        mixed: Tensor = self.adjacency.weighted_sum(edges, between.t(), z.transpose(0, 1))
        mixed = mixed.transpose(0, 1)
        return mixed + own.unsqueeze(-1) * z if self.adjacency.self_loops else mixed


class TensorFeatures(Features):
    """X as the caller gave it: dense and differentiable, or sparse CSR. Shape ``[n, f]``."""

    def __init__(self, x: Tensor) -> None:
        self.x, self.shape = x, (x.shape[0], x.shape[1])

    @property
    def dense(self) -> Tensor:
        """X as a dense matrix."""
        return self.x.to_dense() if self.x.layout == torch.sparse_csr else self.x

    def of_runs(self, runs: int, noise: Noise | None) -> Tensor:
        """X of the one run. Shape ``[1, n, f]``."""
        return self.dense.unsqueeze(0)

    def linear(self, weight: Tensor, noise: Noise | None) -> Tensor:
        """dropout(X) W. Shapes: W ``[1, f, d]`` to ``[1, n, d]``."""
        x = self.x
        if noise is not None and x.layout == torch.sparse_csr:
            x = with_values(x, noise.drop(x.values(), x.values(), FEATURE_SITE))
        elif noise is not None:
            x = noise.drop(x, x, FEATURE_SITE)
        # Under autocast the product is of less precision than the weights.
        return torch.mm(x, weight[0]).to(weight.dtype).unsqueeze(0)


@dataclass(frozen=True)
class StreamNoise(Noise):
    """Dropout from PyTorch's generator, so ``torch.manual_seed`` decides it.

    Within a pass a place in the model draws one mask, as counted dropout does: L2U compares the
    errors of several steps, which other masks would blur.

    Args:
        rate: the dropout rate.
    """

    rate: float = 0.0
    masks: dict[tuple[int, tuple[int, ...]], Tensor] = field(default_factory=dict)

    @classmethod
    def of(cls, rate: float, x: Tensor) -> Self:
        """Return the noise of one pass over the nodes of x."""
        nothing = torch.empty(0, device=x.device)
        nodes = torch.arange(x.shape[0], device=x.device)
        return cls(nothing, nothing, nothing, nodes=nodes, rate=rate)

    def scale(self, ids: Tensor, site: int, rates: Tensor | None = None) -> Tensor:
        """Return 0 where an element is dropped, else 1 / (1 - rate), in the shape of ``ids``."""
        key = site, tuple(ids.shape)
        if key not in self.masks:
            self.masks[key] = F.dropout(torch.ones_like(ids), self.rate)
        return self.masks[key]

    def drop(self, values: Tensor, ids: Tensor, site: int, rates: Tensor | None = None) -> Tensor:
        """Inverted dropout of the values."""
        return values if self.rate == 0 else values * self.scale(values.detach(), site)

    def drop_rows(self, values: Tensor, rows: Tensor, site: int) -> Tensor:
        """Inverted dropout of rows of a matrix."""
        return self.drop(values, values, site)


class TensorInputs(Inputs):
    """A graph as tensors; measures are standardised in full precision."""

    def standardised(self, measure: Tensor, which: int = 0) -> Tensor:
        """Return a measure standardised over the nodes at hand. Shape ``[1, n]``."""
        exact = torch.promote_types(measure.dtype, torch.float32)
        return standardised(measure.to(exact)).to(measure.dtype)
