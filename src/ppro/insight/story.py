"""What a run says of one node, as plain values: what ``ppro explain --json`` prints."""

import math
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from ppro.data.files.export import part_names
from ppro.graph.core import UNLABELLED, Graph
from ppro.insight.explain import ExplainedRun
from ppro.insight.explanation import Explanation
from ppro.insight.measures import local_homophily
from ppro.insight.priorities import diagnosis_of, priorities_of


def node_story(run: ExplainedRun, node: int) -> dict[str, Any]:
    """Return everything that a run says of one node; None where the model has no such part."""
    graph, told = run.graph, run.explanation
    names, label = graph.class_names, _label(graph, node)
    guess, step = int(told.predicted[node]), int(told.steps[node])
    around = _around(graph, node)
    homophily = float(local_homophily(graph)[node])
    return {
        "id": node_id(graph, node),
        "run": run.index,
        "label": label,
        "predicted": names[guess],
        "correct": None if label is None else names[guess] == label,
        "probability": float(told.probabilities[node, step, guess]),
        "split": part_names(run.splits, run.index)[node],
        "step": step,
        "decision": run.decision,
        "by_step": [_at_step(told, names, node, k) for k in range(told.probabilities.shape[1])],
        "priority": _one(told.priorities, node),
        "priority_rank": _rank(told.priorities, node),
        "drivers": _drivers(told, node),
        "features": _features(run, node),
        "of_the_run": run_story(run),
        "degree": len(around),
        "homophily": None if math.isnan(homophily) else homophily,
        "neighbours": [
            {"id": node_id(graph, i), "label": _label(graph, i), "step": int(told.steps[i])}
            for i in around
        ],
    }


def run_story(run: ExplainedRun) -> dict[str, Any]:
    """Return what is so of the whole run: what has collapsed, and what the priorities did."""
    found = priorities_of(run)
    told: dict[str, Any] = {"collapsed": diagnosis_of(run).verdicts(), "priorities": None}
    if found is not None:
        told["priorities"] = {
            **asdict(found.spread),
            "on_training": found.on_training,
            "rank_correlations": {one.name: one.rho for one in found.relations},
            "told": found.sentences(),
        }
    return told


def node_id(graph: Graph, node: int) -> str:
    """Return the user's id of a node, or its number."""
    return str(node) if graph.node_ids is None else graph.node_ids[node]


def _around(graph: Graph, node: int) -> list[int]:
    source, target = graph.edge_index
    found: list[int] = target[source == node].tolist()
    return found


def _label(graph: Graph, node: int) -> str | None:
    label = int(graph.labels[node])
    return None if label == UNLABELLED else graph.class_names[label]


def _at_step(told: Explanation, names: tuple[str, ...], node: int, k: int) -> dict[str, Any]:
    p = told.probabilities[node, k]
    return {
        "step": k,
        "predicted": names[int(p.argmax())],
        "probabilities": dict(zip(names, p.tolist(), strict=True)),
        "decision": told.decision(node, k),
        "evidence": _evidence(told, node, k),
    }


def _evidence(told: Explanation, node: int, k: int) -> dict[str, float] | None:
    """Return what comparing controllers see of a node at a step, by name."""
    if told.evidence is None:
        return None
    return dict(zip(told.evidence_names, told.evidence[node, k].tolist(), strict=True))


def _one(values: Tensor | None, node: int) -> float | None:
    return None if values is None else float(values[node])


def _rank(values: Tensor | None, node: int) -> float | None:
    """Return the share of the nodes with a lower value."""
    if values is None:
        return None
    return float((values < values[node]).to(torch.float64).mean())


def _drivers(told: Explanation, node: int) -> list[dict[str, Any]]:
    if told.drivers is None or told.measures is None:
        return []
    z = [*told.measures[node].tolist(), *(None for _ in told.other_drivers)]
    adds = told.drivers[node].tolist()
    return [
        {"name": name, "z": value, "adds": added}
        for name, value, added in zip(told.driver_names, z, adds, strict=True)
    ]


def _features(run: ExplainedRun, node: int) -> list[dict[str, Any]]:
    told, names = run.explanation, run.feature_names
    if told.feature_index is None or told.feature_score is None:
        return []
    pairs = zip(told.feature_index[node].tolist(), told.feature_score[node].tolist(), strict=True)
    return [
        {"name": f"feature {i}" if names is None else names[i], "index": i, "adds": s}
        for i, s in pairs
        if s != 0
    ]
