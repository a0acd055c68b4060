"""Timing ours and the peer's epochs in turn, and reading peak memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from ppro.allocator import keep_freed_memory
from ppro.assembly import build_model, prepare_inputs, rows_from_masks
from ppro.bench.cases import Case, bench_graph
from ppro.bench.peer import Peer
from ppro.capture import WARM_UP, Replay
from ppro.data import Splits
from ppro.graph import Graph
from ppro.threads import use_threads, worth_cores
from ppro.training import Trainer

BUDGET = 6.0
"""Seconds spent on timing one case."""


def our_epoch(case: Case, graph: Graph, splits: Splits, device: torch.device) -> Callable[[], None]:
    """An epoch of ours with everything a training has: both passes, controllers, validation."""
    settings = case.settings()
    masks = [mask.expand(case.runs, -1) for mask in (splits.train, splits.val)]
    train, val = (rows_from_masks(mask, graph.labels, device) for mask in masks)
    model = build_model(graph.num_features, graph.num_classes, settings, device)
    inputs = prepare_inputs(graph, settings[0], device)
    trainer = Trainer(model, inputs, train, val, [s.replace(epochs=2000) for s in settings])
    return Replay(trainer.epoch) if device.type == "cuda" else trainer.epoch


def measure(case: Case, device: torch.device, threads: int | None) -> dict[str, Any]:
    """Seconds per epoch of ours and of the peer, alternating, and their ratio."""
    keep_freed_memory()
    graph, splits = bench_graph(case.graph)
    chosen = use_threads(threads or worth_cores(graph, case.settings()[0], case.runs))
    ours = our_epoch(case, graph, splits, device)
    peer = Peer(graph, splits, case.settings()[0], device).epoch
    mine, theirs = alternate(ours, peer, device)
    return {
        "graph": case.graph,
        "edges": graph.num_edges,
        "form": case.form,
        "max_steps": case.max_steps,
        "strategy": case.strategy,
        "runs": case.runs,
        "threads": chosen,
        "rounds": len(mine),
        "ours_ms": 1e3 * median(mine),
        "peer_ms": 1e3 * median(theirs),
        "ratio": median(mine) / median(theirs),
    }


def alternate(
    ours: Callable[[], None], peer: Callable[[], None], device: torch.device
) -> tuple[list[float], list[float]]:
    """Time both in turn, so that a busy machine slows both alike."""
    for _ in range(WARM_UP + 1):
        ours()
    peer()
    mine: list[float] = []
    theirs: list[float] = []
    end = time.perf_counter() + BUDGET
    while len(mine) < 3 or (time.perf_counter() < end and len(mine) < 200):
        mine.append(seconds(ours, device))
        theirs.append(seconds(peer, device))
    return mine, theirs


def seconds(work: Callable[[], None], device: torch.device) -> float:
    """Wall time of one call, the device's work included."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start
