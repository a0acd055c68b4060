"""What a run says of one node, as plain values: what ``ppro explain --json`` prints."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ppro.graph.core import UNLABELLED, Graph
from ppro.insight.explain import ExplainedRun, Explanation


def node_story(run: ExplainedRun, node: int) -> dict[str, Any]:
    """Return everything that a run says of one node; None where the model has no such part."""
    graph, told = run.graph, run.explanation
    names, label = graph.class_names, int(graph.labels[node])
    guess, step = int(told.predicted[node]), int(told.steps[node])
    around = _around(graph, node)
    return {
        "id": node_id(graph, node),
        "run": run.index,
        "label": None if label == UNLABELLED else names[label],
        "predicted": names[guess],
        "correct": None if label == UNLABELLED else guess == label,
        "probability": float(told.probabilities[node, step, guess]),
        "split": _part(run, node),
        "step": step,
        "decision": decision_name(run),
        "by_step": [_at_step(told, names, node, k) for k in range(told.probabilities.shape[1])],
        "priority": _one(told.priorities, node),
        "priority_rank": _rank(told.priorities, node),
        "drivers": _drivers(told, node),
        "features": _features(run, node),
        "degree": len(around),
        "homophily": _homophily(graph, node, around),
        "neighbours": [
            {"id": node_id(graph, i), "label": _label(graph, i), "step": int(told.steps[i])}
            for i in around
        ],
    }


def decision_name(run: ExplainedRun) -> str | None:
    """Return what the strategy's chance at a step is about; None where nothing is decided."""
    if run.explanation.decisions is None:
        return None
    return run.strategy.verb or run.strategy.name


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


def _part(run: ExplainedRun, node: int) -> str:
    for name in ("train", "val", "test"):
        if bool(getattr(run.splits, name)[run.index, node]):
            return name
    return "none"


def _at_step(told: Explanation, names: tuple[str, ...], node: int, k: int) -> dict[str, Any]:
    p = told.probabilities[node, k]
    decision = None
    if told.decisions is not None and k > 0:
        decision = float(told.decisions[node, k - 1])
    return {
        "step": k,
        "predicted": names[int(p.argmax())],
        "probabilities": dict(zip(names, p.tolist(), strict=True)),
        "decision": decision,
    }


def _one(values: Tensor | None, node: int) -> float | None:
    return None if values is None else float(values[node])


def _rank(values: Tensor | None, node: int) -> float | None:
    """Share of the nodes with a lower value."""
    if values is None:
        return None
    return float((values < values[node]).to(torch.float64).mean())


def _drivers(told: Explanation, node: int) -> list[dict[str, Any]]:
    if told.drivers is None or told.measures is None:
        return []
    z = [*told.measures[node].tolist(), None, None, None]
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


def _homophily(graph: Graph, node: int, around: list[int]) -> float | None:
    labels = graph.labels[around]
    known = labels[labels != UNLABELLED]
    if int(graph.labels[node]) == UNLABELLED or known.numel() == 0:
        return None
    return float((known == graph.labels[node]).to(torch.float64).mean())
