"""What is kept of single nodes: their steps, priorities and place in the graph, as plain arrays."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray

from ppro.errors import RunError
from ppro.files import whole_file
from ppro.graph.core import Graph
from ppro.insight.measures import local_homophily
from ppro.nn.priority import Edges
from ppro.nn.priority.eigenvector import eigenvector_centrality
from ppro.search.batches import Done

Arrays = Mapping[str, NDArray[Any]]

MEASURES = ("degree", "centrality", "homophily")
EFFECTS = ("steps", "priorities")
LEVELS = 2**16 - 1
"""Steps between the lowest and the highest priority of a run that are told apart in a file."""

NAMES = {
    "steps": "step",
    "priorities": "priority",
    "degree": "degree",
    "centrality": "eigenvector centrality",
    "homophily": "local homophily",
}
DRAWABLE = 500
"""Labels and edges are kept of graphs with at most this many nodes: larger ones are not drawn."""


def node_arrays(graph: Graph, runs: Sequence[Done]) -> dict[str, NDArray[Any]]:
    """Return all that figures ask of nodes, so that they need no graph.

    Shapes: steps and priorities ``[R, n]``; degree, centrality, homophily and labels ``[n]``;
    edges ``[2, e]``, each once.
    """
    steps = torch.stack([done.steps for done in runs]).numpy()
    priorities = torch.stack([done.priorities for done in runs]).numpy()
    ends = Edges(graph.edge_index, graph.num_nodes)
    arrays: dict[str, NDArray[Any]] = {
        "steps": steps.astype(np.min_scalar_type(steps.max())),
        "priorities": priorities.astype(np.float32),
        "degree": ends.degree().numpy().astype(np.int32),
        "centrality": eigenvector_centrality(ends).numpy().astype(np.float32),
        "homophily": local_homophily(graph).astype(np.float32),
    }
    if graph.num_nodes <= DRAWABLE:
        edges = graph.edge_index.numpy()
        arrays["edges"] = edges[:, edges[0] < edges[1]].astype(np.uint16)
        arrays["labels"] = graph.labels.numpy().astype(np.int16)
    return arrays


def write_arrays(record: Path, arrays: Arrays) -> None:
    """Keep arrays next to the record that they belong to; priorities in 16 bits."""
    priorities = arrays["priorities"].astype(np.float64)
    low, high = priorities.min(1, keepdims=True), priorities.max(1, keepdims=True)
    unit = np.where(high > low, high - low, 1.0) / LEVELS
    codes = np.round((priorities - low) / unit).astype(np.uint16)
    kept = {**arrays, "priorities": codes, "low": low, "unit": unit}
    with whole_file(record.with_suffix(".npz")) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **kept)


def read_arrays(record: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a record, as :func:`node_arrays` made them.

    Raises:
        RunError: they are missing or damaged.
    """
    path = record.with_suffix(".npz")
    try:
        with np.load(path, allow_pickle=False) as found:
            arrays = dict(found)
        low, unit = arrays.pop("low"), arrays.pop("unit")
        return arrays | {"priorities": (low + unit * arrays["priorities"]).astype(np.float32)}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        reason = f"cannot be read ({error})"
        raise RunError(
            f"{path}: {reason}; remove {record.name} beside it to run it again"
        ) from None
