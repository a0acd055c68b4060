"""What comes out of a user's files, whatever their format."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ppro.data.drawn import drawn_splits
from ppro.data.files.cells import Floats
from ppro.data.files.edges import EdgeFacts, edge_facts
from ppro.data.files.schema import Schema
from ppro.data.names import GIVEN, RANDOM, is_drawn, split_names
from ppro.data.readers.raw import IntArray, Masks
from ppro.data.splits import Splits, fixed_splits
from ppro.errors import DataError
from ppro.graph.core import Graph


@dataclass(frozen=True, eq=False)
class Reading:
    """A graph from files.

    Args:
        graph: the graph, validated.
        schema: how it came about.
        masks: the split that the files state, or None.
        edges: what is odd about the edges as listed.
        notes: what was done to the data that a user should know of.
    """

    graph: Graph
    schema: Schema
    masks: Masks | None
    edges: EdgeFacts
    notes: tuple[str, ...]

    @property
    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits it can be trained with, the default first."""
        return (RANDOM,) if self.masks is None else (GIVEN, RANDOM)


@dataclass(frozen=True, eq=False)
class FileParts:
    """The parts of a graph as a reader found them. Shapes: edges ``[E, 2]``, labels ``[n]``.

    Args:
        directed: whether edges may point from the first node to the second.
    """

    name: str
    edges: IntArray
    features: Tensor
    labels: IntArray
    weights: Floats | None = None
    node_ids: tuple[str, ...] | None = None
    directed: bool = True


def finished(
    path: Path,
    parts: FileParts,
    schema: Schema,
    masks: Masks | None,
    notes: tuple[str, ...],
    *,
    new: bool = False,
) -> Reading:
    """Check the parts of a graph together; errors name the file that the edges came from.

    Args:
        new: a trained model is to be applied to it, which needs no edges.
    """
    graph = Graph.build(
        str(path),
        torch.from_numpy(np.ascontiguousarray(parts.edges.T)),
        parts.features,
        torch.from_numpy(parts.labels),
        edge_weight=None if parts.weights is None else torch.from_numpy(parts.weights),
        class_names=schema.class_names,
        node_ids=parts.node_ids,
        directed=parts.directed,
    )
    if graph.num_edges == 0 and new:
        notes += ("no edge between two different nodes: each is predicted by itself",)
    elif graph.num_edges == 0:
        raise DataError(
            f"{path}: no edge between two different nodes; add edges, or use a classifier that "
            "needs no graph"
        )
    facts = edge_facts(parts.edges, graph.num_nodes)
    notes += (facts.note,) if facts.note and parts.directed else ()
    return Reading(replace(graph, name=parts.name), schema, masks, facts, notes)


def file_splits(reading: Reading, split: str, runs: int, seed: int) -> Splits:
    """Return the masks of every run.

    Args:
        split: ``given``, the masks of the files, of which run r takes number r modulo their
            count; or ``random-60-20-20`` or ``N-per-class``, drawn for run r with ``seed + r``.

    Raises:
        DataError: the files state no split, or one that cannot be trained with.
    """
    name, labels = reading.graph.name, reading.graph.labels
    try:
        if is_drawn(split):
            return drawn_splits(labels, split, runs, seed)
        if split == GIVEN and reading.masks is not None:
            return fixed_splits(reading.masks, labels, split, runs)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    raise DataError(f"{name} has no split {split!r}; it has {split_names(reading.splits)}")


def predict_only(graph: Graph, runs: int) -> Splits:
    """Return the masks of a new graph: no node took part in the training or its measurements."""
    none = torch.zeros((runs, graph.num_nodes), dtype=torch.bool)
    return Splits("none", none, none, none)
