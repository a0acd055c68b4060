"""Predictions for some nodes: the part of the graph that they depend on, cut out of the whole.

A node at depth L sees no further than L hops. What the controllers read of the whole graph (degree,
centrality, and the scale of the heterophily degree) stays that of the whole graph, so predictions
are those of a pass over all nodes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.compute.blocks import row_blocks
from ppro.compute.feature_blocks import BlockedFeatures, ReadRows
from ppro.compute.features import Features
from ppro.compute.propagation import Adjacency
from ppro.compute.sparse import from_rows, transpose
from ppro.nn.batched import PProNetwork
from ppro.nn.comparing.network import ComparingNetwork
from ppro.nn.network import Inputs, Network, Rows
from ppro.nn.priority import moments, standardised
from ppro.training.fit import NodeTable

WORTH = 0.5
"""Up to this share of the nodes, a cut, which is a copy, costs less than it saves."""
BLOCK_ROWS = 65_536
GAP = 64
"""Up to this many unneeded rows of a file between two needed ones are read with them."""


@dataclass(frozen=True, eq=False)
class CutInputs(Inputs):
    """Part of a graph, prepared with the degrees and measures of the whole.

    Args:
        scales: mean and deviation over all nodes of each measure of embeddings that the
            controllers see. Shape ``[R, 1]`` each.
    """

    scales: tuple[tuple[Tensor, Tensor], ...] = ()

    def standardised(self, measure: Tensor, which: int = 0) -> Tensor:
        """Return a measure of these nodes, on the scale of all nodes. Shape ``[R, n]``."""
        return standardised(measure, self.scales[which])


def receptive_field(matrix: Tensor, nodes: Tensor, hops: int, most: int) -> Tensor | None:
    """Return the nodes within some hops of the given ones, sorted; None for more than ``most``.

    Args:
        matrix: whom each node reads from, as CSR. Shape ``[n, n]``.
        nodes: Shape ``[m]``.
    """
    inside = torch.zeros(matrix.shape[0], dtype=torch.bool, device=nodes.device)
    inside[nodes] = True
    frontier = inside.nonzero().squeeze(1)
    size = frontier.shape[0]
    for _ in range(hops):
        if size > most or frontier.numel() == 0:
            break
        before = inside.clone()
        for block in row_blocks(frontier.shape[0], BLOCK_ROWS):
            inside[_entries(matrix, frontier[block])[1].long()] = True
        frontier = (inside & ~before).nonzero().squeeze(1)
        size += frontier.shape[0]
    return None if size > most else inside.nonzero().squeeze(1)


@torch.no_grad()
def describe_some(model: Network, inputs: Inputs, nodes: Tensor) -> tuple[NodeTable, int]:
    """Return probabilities, step and priority of some nodes, as a pass over all would give them.

    Args:
        nodes: their numbers. Shape ``[m]``.

    Returns:
        The table, with a row for each of them, and how many nodes were propagated for it.
    """
    hops, whole = model.reach(), inputs.num_nodes
    nodes = nodes.to(inputs.influence.device)
    field = None
    if hops is not None:
        field = receptive_field(inputs.adjacency.matrix, nodes, hops, int(WORTH * whole))
    if field is not None:
        inputs, nodes = cut(model, inputs, field), torch.searchsorted(field, nodes)
    runs = next(model.parameters()).shape[0]
    rows = nodes.expand(runs, -1)
    seen = Rows(rows, torch.zeros_like(rows), torch.ones_like(rows, dtype=inputs.influence.dtype))
    outcome = model(inputs, seen)
    return NodeTable.of(outcome), inputs.num_nodes


@torch.no_grad()
def cut(model: Network, inputs: Inputs, field: Tensor) -> CutInputs:
    """Return the part of prepared inputs of some nodes; ``field`` is sorted, shape ``[m]``."""
    matrix = _square(inputs.adjacency.matrix, field)
    adjoint = matrix if inputs.adjacency.symmetric else transpose(matrix)[0]
    scales: tuple[tuple[Tensor, Tensor], ...] = ()
    if isinstance(model, PProNetwork | ComparingNetwork) and model.controllers is not None:
        scales = tuple(moments(measure) for measure in _changing(model, inputs))
    features = _some_features(inputs.features, field)
    return CutInputs(features, Adjacency(matrix, adjoint), inputs.influence[field], scales)


def _changing(model: PProNetwork | ComparingNetwork, inputs: Inputs) -> Iterator[Tensor]:
    """Yield each measure of embeddings, as the first step of a pass finds it. Shape ``[R, n]``."""
    backbone, adjacency = model.backbone, inputs.adjacency
    h0 = backbone.initial(inputs.features, adjacency, None)
    if backbone.alpha is None:
        aggregate = backbone.step(1, h0, h0, adjacency, None)[0]
        aggregate = backbone.comparable(h0, aggregate, adjacency, None)
    else:
        aggregate = adjacency.mix_into(torch.empty_like(h0), h0, h0, backbone.alpha)
    for measure in model.changing:
        seen = aggregate
        if backbone.alpha is not None and not measure.up_to_scale:
            seen = (aggregate - backbone.alpha * h0) / (1 - backbone.alpha)
        yield measure.of_step(h0, seen)


def _entries(matrix: Tensor, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the entries of some rows of a CSR matrix: number in each, columns and values."""
    starts = matrix.crow_indices()
    begin = starts[rows].long()
    counts = starts[rows + 1].long() - begin
    shift = begin - (counts.cumsum(0) - counts)
    places = torch.repeat_interleave(shift, counts)
    places += torch.arange(places.shape[0], device=places.device)
    return counts, matrix.col_indices()[places], matrix.values()[places]


def _square(matrix: Tensor, field: Tensor) -> Tensor:
    """Return the entries between the nodes of a field, by their place in it. ``[m, m]``, CSR."""
    number = torch.full((matrix.shape[0],), -1, dtype=torch.int32, device=field.device)
    number[field] = torch.arange(field.shape[0], dtype=torch.int32, device=field.device)
    lengths, columns, values = [], [], []
    for rows in row_blocks(field.shape[0], BLOCK_ROWS):
        block = field[rows]
        counts, old, entries = _entries(matrix, block)
        new = number[old.long()]
        kept = new >= 0
        row = torch.repeat_interleave(torch.arange(block.shape[0], device=field.device), counts)
        lengths.append(torch.bincount(row[kept], minlength=block.shape[0]))
        columns.append(new[kept])
        values.append(entries[kept])
    counts = torch.cat(lengths)
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return from_rows(starts, torch.cat(columns), torch.cat(values))


def _some_features(features: Features, field: Tensor) -> Features:
    """Return the rows of X of some nodes, on disk where X is."""
    if isinstance(features, BlockedFeatures):
        read = _gathered(features.read, field)
        return BlockedFeatures(read, (field.shape[0], features.shape[1]), norm=features.norm)
    matrix = features.forward.matrix
    if matrix.layout != torch.sparse_csr:
        return Features(matrix[field])
    counts, columns, values = _entries(matrix, field)
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)]).to(columns.dtype)
    shape = (field.shape[0], matrix.shape[1])
    return Features(torch.sparse_csr_tensor(starts, columns, values, shape, check_invariants=False))


def _gathered(read: ReadRows, field: Tensor) -> ReadRows:
    """Return what reads rows that lie apart in a file: those close together in one go."""

    def some(rows: slice) -> Tensor:
        wanted = field[rows]
        ends = (wanted.diff() > GAP).nonzero().squeeze(1) + 1
        parts = wanted.tensor_split(ends.cpu())
        return torch.cat([_span(read, part) for part in parts])

    return some


def _span(read: ReadRows, wanted: Tensor) -> Tensor:
    first, last = int(wanted[0]), int(wanted[-1])
    return read(slice(first, last + 1))[wanted - first]
