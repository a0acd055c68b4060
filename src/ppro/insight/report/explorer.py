"""The data behind the graph explorer: what is said of every node, packed."""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ppro.graph.core import Graph
from ppro.insight.explain import ExplainedRun
from ppro.insight.measures import degrees, local_homophily
from ppro.insight.report.layout import positions
from ppro.insight.report.packing import pack, pack_coarse, pack_shares, pack_whole
from ppro.nn.strategies import Strategy

MAX_DRAWN = 3000
"""Up to this many nodes the whole graph is drawn; of a larger one, neighbourhoods."""

MAX_SHARES = 8_000_000
"""Most class probabilities that a report holds; a larger graph is cut to a connected sample."""

IndexArray = NDArray[np.int64]


def explorer_data(run: ExplainedRun) -> dict[str, Any]:
    """Return everything that the explorer knows of the nodes."""
    told = run.explanation
    shares = int(np.prod(told.probabilities.shape[1:]))
    shares += 0 if told.evidence is None else int(np.prod(told.evidence.shape[1:]))
    kept = sample(run.graph, max(MAX_SHARES // shares, 1))
    edges = _edges(run.graph, kept)
    return {
        "total": run.graph.num_nodes,
        "nodes": len(kept),
        "classes": list(run.graph.class_names),
        "ids": _ids(run.graph, kept),
        "edges": pack_whole(edges),
        "positions": _positions(edges, len(kept)),
        "start": _start(run, kept),
        "verb": run.decision,
        "told": run.strategy.told if run.explanation.decisions is not None else Strategy.told,
        "epsilon": run.explanation.threshold,
        "firstDecision": run.explanation.first_decision,
        "lastStep": run.explanation.last_step,
        "measureNames": list(run.explanation.measure_names),
        "driverNames": list(run.explanation.driver_names),
        "evidenceNames": list(run.explanation.evidence_names),
        "featureNames": run.feature_names,
        **_node_columns(run, kept),
        **_explanation_columns(run, kept),
    }


def sample(graph: Graph, most: int) -> IndexArray:
    """Return all nodes, or the first ones found by walking breadth-first from random nodes."""
    if graph.num_nodes <= most:
        return np.arange(graph.num_nodes)
    starts = np.searchsorted(graph.edge_index[0].numpy(), np.arange(graph.num_nodes + 1))
    targets = graph.edge_index[1].numpy()
    found: dict[int, None] = {}
    for seed in np.random.default_rng(0).permutation(graph.num_nodes).tolist():
        queue = deque([seed])
        while queue and len(found) < most:
            node = queue.popleft()
            if node not in found:
                found[node] = None
                queue.extend(targets[starts[node] : starts[node + 1]].tolist())
        if len(found) >= most:
            break
    return np.sort(np.fromiter(found, dtype=np.int64))


def _edges(graph: Graph, kept: IndexArray) -> IndexArray:
    """Return each edge between kept nodes once, by their new numbers. Shape ``[2, E]``."""
    number = np.full(graph.num_nodes, -1)
    number[kept] = np.arange(len(kept))
    edges: IndexArray = number[graph.edge_index.numpy()]
    return edges[:, (edges[0] >= 0) & (edges[0] < edges[1])]


def _ids(graph: Graph, kept: IndexArray) -> list[str] | None:
    """Return the users' ids, or None where a node's id is its number."""
    if graph.node_ids is None:
        whole = len(kept) == graph.num_nodes
        return None if whole else [str(i) for i in kept.tolist()]
    return [graph.node_ids[i] for i in kept.tolist()]


def _positions(edges: IndexArray, num_nodes: int) -> dict[str, str] | None:
    return pack(positions(edges, num_nodes), "f32") if num_nodes <= MAX_DRAWN else None


def _start(run: ExplainedRun, kept: IndexArray) -> int:
    """Return the node to show first: one that propagation put right, of a middling degree."""
    labels, degree = run.graph.labels.numpy()[kept], degrees(run.graph)[kept]
    first = run.explanation.by_step[:, 0].numpy()[kept]
    predicted = run.explanation.predicted.numpy()[kept]
    test = run.splits.test[run.index].numpy()[kept]
    interest = 2.0 * ((predicted == labels) & (first != labels)) + test
    return int((interest + (degree >= 4) + (degree <= 20) + 1e-3 * np.minimum(degree, 20)).argmax())


def _node_columns(run: ExplainedRun, kept: IndexArray) -> dict[str, Any]:
    splits, index = run.splits, run.index
    part = splits.parts(index)
    return {
        "labels": pack(run.graph.labels.numpy()[kept], "i16"),
        "predicted": pack(run.explanation.predicted.numpy()[kept], "i16"),
        "part": pack(part.numpy()[kept], "u8"),
        "degree": pack_whole(degrees(run.graph)[kept]),
        "homophily": pack(local_homophily(run.graph)[kept], "f32"),
    }


def _explanation_columns(run: ExplainedRun, kept: IndexArray) -> dict[str, Any]:
    """Return what the run says; a column is null where the model has no such part."""
    e = run.explanation

    def floats(values: Tensor | None) -> dict[str, str] | None:
        return None if values is None else pack(values.numpy()[kept], "f32")

    return {
        "probabilities": pack_shares(e.probabilities.numpy()[kept]),
        "decisions": None if e.decisions is None else pack_shares(e.decisions.numpy()[kept]),
        "evidence": None if e.evidence is None else pack_coarse(e.evidence.numpy()[kept]),
        "steps": pack_whole(e.steps.numpy()[kept]),
        "decides": e.chosen,
        "priorities": floats(e.priorities),
        "measures": floats(e.measures),
        "drivers": floats(e.drivers),
        "features": None if e.feature_index is None else pack_whole(e.feature_index.numpy()[kept]),
        "featureScores": floats(e.feature_score),
        "featuresPerNode": 0 if e.feature_index is None else e.feature_index.shape[1],
    }
