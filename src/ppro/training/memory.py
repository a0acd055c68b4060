"""How much memory a training on a large graph takes, and whether the machine has it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.nn.comparing.network import compares
from ppro.settings.settings import Settings, part_of
from ppro.training.judges import networks_of

GIB = 2**30
PROGRAM = 0.8 * GIB
"""The interpreter, PyTorch, and the blocks in flight on its threads."""

_MATRICES_OF_PASS = 3
"""h0 and two buffers going forward; as many going back."""
_MATRICES_OF_ROWS = 10
"""Rows picked from embeddings, their aggregate, the best so far, and what makes them anew."""
_HIDDEN_OF_OTHERS = 4
"""Hidden layers that a network stores which does not take the features in blocks."""
_PREDICTIONS_OF_STEP = 4
"""Of comparing controllers: a node's own and its neighbours', as they are made and all together."""


@dataclass(frozen=True)
class Estimate:
    """Bytes that a training needs at its peak."""

    edges: float
    nodes: float
    features: float
    embeddings: float
    rows: float
    predictions: float = 0.0

    @property
    def total(self) -> float:
        """Return all parts, and the program itself."""
        return PROGRAM + sum(float(getattr(self, part)) for part in self.__dataclass_fields__)

    def __str__(self) -> str:
        parts = [part for part in self.__dataclass_fields__ if part != "predictions"]
        parts += ["predictions"] if self.predictions else []
        shown = ", ".join(f"{part} {getattr(self, part) / GIB:.2f}" for part in parts)
        return f"about {self.total / GIB:.1f} GiB ({shown}, program {PROGRAM / GIB:.1f})"


@dataclass(frozen=True)
class Sizes:
    """What an estimate asks of a graph."""

    nodes: int
    edges: int
    classes: int
    features: int = 0

    @classmethod
    def of(cls, graph: Graph) -> Sizes:
        """Return those of a graph."""
        return cls(graph.num_nodes, graph.num_edges, graph.num_classes, graph.num_features)


def in_blocks(settings: Settings) -> bool:
    """Tell whether the network of these settings takes features in blocks, from end to end."""
    return bool(part_of(settings).takes_blocks(settings.network))


def propagated_width(sizes: Sizes, settings: Settings) -> int:
    """Return how many numbers of a node propagate."""
    part = part_of(settings)
    return int(part.propagated_width(settings.network, sizes.features, sizes.classes))


def estimate(sizes: Sizes, settings: Settings, runs: int) -> Estimate:
    """What training and prediction take at their peak, prediction of all nodes being the most.

    Features in a file take nothing where the network takes them in blocks.
    """
    nodes = sizes.nodes
    entries = 2 * sizes.edges + (nodes if settings.inputs.self_loops else 0)
    networks = runs * networks_of(settings)
    matrix = 4.0 * nodes * propagated_width(sizes, settings) * networks
    hidden = 0.0 if in_blocks(settings) else _HIDDEN_OF_OTHERS * matrix
    return Estimate(
        edges=per_entry(entries, settings, runs) * entries + 4.0 * nodes,
        nodes=per_node(runs) * nodes,
        features=hidden,
        embeddings=_MATRICES_OF_PASS * matrix,
        rows=(matrices(settings) - _MATRICES_OF_PASS) * matrix,
        predictions=predictions(sizes, settings) * networks,
    )


def predictions(sizes: Sizes, settings: Settings) -> float:
    """Return bytes of what a backbone predicts at every step; 0 where no controllers compare."""
    if not compares(settings):
        return 0.0
    steps = settings.network.max_steps + 1
    return 4.0 * _PREDICTIONS_OF_STEP * steps * sizes.nodes * sizes.classes


def per_node(runs: int) -> int:
    """Return bytes for a node: label, start, masks, priorities, rows, steps and weights."""
    return 8 + 8 + 3 * runs + 8 + 48 * runs


def per_entry(entries: int, settings: Settings, runs: int) -> int:
    """Return bytes for an entry of the adjacency.

    A column and a value, and the column in the file, which is mapped. A row-normalised matrix has
    values of its own both ways.
    """
    size = 12 if settings.inputs.normalisation == "symmetric" else 16
    if entries >= 2**31:
        # The columns of a matrix as large as that are 64-bit numbers.
        size += 4
    if settings.training.edge_dropout > 0:
        size += 4 + 8 * runs
    return size


def matrices(settings: Settings) -> int:
    """Return how many matrices of embeddings of all nodes there are at the peak."""
    if part_of(settings).keeps_steps:
        return 2 * (settings.network.max_steps + 1) + 2 * _MATRICES_OF_PASS
    return _MATRICES_OF_PASS + _MATRICES_OF_ROWS


def available() -> int | None:
    """Bytes that a new program can have without swapping, or None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def check_fits(graph: Graph, settings: Settings, runs: int, room: int | None = None) -> Estimate:
    """Return the estimate, where the machine can hold it.

    Args:
        room: bytes there are; asked of the system when None.

    Raises:
        SettingsError: it cannot.
    """
    needed = estimate(Sizes.of(graph), settings, runs)
    room = available() if room is None else room
    if room is not None and needed.total > room:
        advice = "train fewer runs at a time" if runs > 1 else "use a machine with more memory"
        if not in_blocks(settings):
            advice = "set form=class, which keeps features on disk, or " + advice
        raise SettingsError(
            f"{graph.name} needs {needed} of memory, but {room / GIB:.1f} GiB are free; {advice}"
        )
    return needed
