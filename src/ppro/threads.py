"""How many CPU threads a training gets."""

from __future__ import annotations

import os

import torch

from ppro.config import Settings
from ppro.graph import Graph

WORK_PER_THREAD = 2_000_000
"""Multiply-adds of one sparse product that keep a thread busy for longer than it takes to wake."""


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(graph: Graph, settings: Settings, runs: int) -> int:
    """Threads for the work of one propagation step; OMP_NUM_THREADS overrides the choice.

    On small graphs threads spend more time waiting for each other than working, above all on a
    busy machine. The choice depends on the work alone, so equal runs give equal bits.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    width = settings.hidden if settings.form == "hidden" else graph.num_classes
    work = (2 * graph.num_edges + graph.num_nodes) * width * runs
    return max(1, min(available_cores(), work // WORK_PER_THREAD))


def use_threads(count: int) -> int:
    """Let PyTorch use this many threads; returns the number."""
    torch.set_num_threads(count)
    return count
