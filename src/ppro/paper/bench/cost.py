"""The cost model: memory, bytes on the network and time of L2B around APPNP in class form.

A graph lies in parts on P machines. A machine holds n/P rows and the entries of these rows, and
gets the embeddings of its ghost rows (rows of others that are neighbours of its own) in every
product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ppro.errors import RunError
from ppro.paper.bench.large import LargeCase
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model
from ppro.training.memory import Sizes, estimate

FLOAT = 4
EDGE_PASSES = 4
"""Products in an epoch for each of the L steps: forward, its adjoint, judging φ, validation."""
FEATURE_PASSES = {"l2b": 5, "mlp": 4}
"""Passes over X in an epoch; the backward pass counts twice, as it computes each block again."""
LINE = 64
"""Bytes that a processor fetches at once."""
GHOST_MATRICES, OWN_MATRICES = 3, 2
"""Copies of ghost rows (those to be sent, as they arrive, joined with one's own) and, at most, of
one's own rows that they are joined with."""
BANDWIDTH, LATENCY = 1.25e9, 50e-6
"""Of the assumed network: bytes a second into a machine, and seconds for each message."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Workload:
    """A graph by its sizes; every edge counts once."""

    name: str
    nodes: int
    edges: int
    features: int
    classes: int

    @property
    def settings(self) -> Settings:
        """Return what is trained on it."""
        return LargeCase(1, 1, self.classes, self.features, "l2b").settings()

    @property
    def entries(self) -> int:
        """Entries of Â: both directions of every edge, and a loop for each node."""
        return 2 * self.edges + self.nodes


GRAPHS = (
    Workload("ogbn-products", 2_400_000, 61_900_000, 100, 47),
    Workload("ogbn-papers100M", 111_000_000, 1_600_000_000, 128, 172),
    Workload("a billion nodes", 1_000_000_000, 10_000_000_000, 128, 40),
)


@dataclass(frozen=True)
class Rates:
    """How fast a machine is.

    Args:
        byte: seconds for a byte of embeddings that a product fetches.
        multiplication: seconds for a product of two numbers in the layers before it.
    """

    byte: float
    multiplication: float

    @classmethod
    def measured(cls, trainings: Sequence[Row]) -> Rates:
        """From the largest graph on which both L2B and the MLP were trained.

        Raises:
            RunError: there is none, or the two do not go together.
        """
        pair = largest_pair(trainings)
        if pair is None:
            raise RunError("no graph with both L2B and the MLP; run 'ppro bench large'")
        l2b, mlp = pair
        graph = workload(l2b)
        multiplication = mlp["epoch_s"] / _multiplications(graph, "mlp")
        steps = l2b["epoch_s"] - multiplication * _multiplications(graph, "l2b")
        if steps <= 0:
            raise RunError(
                f"{graph.name}: L2B took no longer than its layers alone would, as the MLP tells; "
                "the machine was busy, measure again"
            )
        return cls(steps / _bytes_fetched(graph), multiplication)


def workload(row: Row) -> Workload:
    """Return the graph of a measured training."""
    sizes = (row[key] for key in ("nodes", "edges", "features", "classes"))
    return Workload(f"{row['nodes']:,} nodes", *sizes)


def largest_pair(trainings: Sequence[Row]) -> tuple[Row, Row] | None:
    """L2B and the MLP on the largest graph that both were trained on."""
    for l2b in sorted(trainings, key=lambda row: -int(row["edges"])):
        mlp = [row for row in trainings if row["method"] == "mlp" and same_graph(row, l2b)]
        if l2b["method"] == "l2b" and mlp:
            return l2b, mlp[0]
    return None


def same_graph(one: Row, other: Row) -> bool:
    """Tell whether two trainings were on the same graph, for as many epochs."""
    keys = ("nodes", "edges", "features", "classes", "epochs")
    return all(one[key] == other[key] for key in keys)


def _multiplications(graph: Workload, method: str) -> float:
    """Products of two numbers in the two layers, over an epoch."""
    hidden = graph.settings.network.hidden
    per_row = graph.features * hidden + hidden * graph.classes
    return float(FEATURE_PASSES[method] * graph.nodes * per_row)


def _bytes_fetched(graph: Workload) -> float:
    """Bytes of embeddings that the products of an epoch fetch: rows lie anywhere, lines whole."""
    row = LINE - FLOAT + FLOAT * graph.classes
    return float(EDGE_PASSES * graph.settings.network.max_steps * graph.entries * row)


def epoch_seconds(graph: Workload, rates: Rates, method: str = "l2b", machines: int = 1) -> float:
    """Seconds of work in an epoch, shared evenly; without the network."""
    seconds = rates.multiplication * _multiplications(graph, method)
    if method == "l2b":
        seconds += rates.byte * _bytes_fetched(graph)
    return seconds / machines


def random_boundary(graph: Workload, machines: int) -> float:
    """Ghost rows for each row of one's own where nodes are dealt out at random.

    A row of another machine is missing only where all its neighbours lie elsewhere.
    """
    degree = 2 * graph.edges / graph.nodes
    return (machines - 1) * (1.0 - float((1 - 1 / machines) ** degree))


@dataclass(frozen=True)
class Prediction:
    """What each of P machines needs.

    Args:
        memory: bytes at the peak.
        disk: bytes of its features.
        received: bytes that reach it over the network in a step.
        messages: messages that reach it in a step, at most.
        gradients: bytes of the gradients that are added up once an epoch.
        network: seconds of an epoch on the assumed network, nothing hidden behind work.
    """

    memory: float
    disk: float
    received: float
    messages: int
    gradients: float
    network: float


def predict(graph: Workload, machines: int = 1, boundary: float = 0.0) -> Prediction:
    """Return what a machine needs where the graph lies on several.

    Args:
        boundary: ghost rows for each row of a machine's own.
    """
    own, steps = -(-graph.nodes // machines), graph.settings.network.max_steps
    ghosts = boundary * own if machines > 1 else 0.0
    row = FLOAT * graph.classes
    joined = OWN_MATRICES * row * own if machines > 1 else 0.0
    share = Sizes(own, -(-graph.edges // machines), graph.classes)
    received, messages = row * ghosts, machines - 1
    each = received / BANDWIDTH + messages * LATENCY
    return Prediction(
        memory=estimate(share, graph.settings, 1).total
        + joined
        + ghosts * (GHOST_MATRICES * row + 8),
        disk=float(FLOAT * own * graph.features),
        received=received,
        messages=messages,
        gradients=gradient_bytes(graph),
        network=EDGE_PASSES * steps * each,
    )


def gradient_bytes(graph: Workload) -> float:
    """Return bytes of all parameters."""
    cpu = torch.device("cpu")
    model = build_model(graph.features, graph.classes, [graph.settings], cpu)
    return float(FLOAT * sum(p.numel() for p in model.parameters()))
