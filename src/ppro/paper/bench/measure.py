"""Timing ours and the peer's epochs in turn, and reading peak memory."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

import torch

from ppro.compute.allocator import keep_freed_memory
from ppro.compute.capture import WARM_UP
from ppro.data import Splits
from ppro.graph.core import Graph
from ppro.nn.comparing.network import ComparingNetwork
from ppro.paper.bench.cases import Case, bench_graph
from ppro.paper.bench.peer import Peer
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model, prepare_inputs, rows_from_masks
from ppro.training.comparing import ComparingTrainer
from ppro.training.threads import share_out, use_threads, worth_cores
from ppro.training.trainer import Trainer


def our_epoch(
    case: Case, graph: Graph, splits: Splits, device: torch.device, cores: int = 1
) -> Callable[[], None]:
    """Return an epoch of ours with everything a training has: both passes, controllers, validation.

    Runs share the cores as in a training: side by side on a CPU, in one program on a GPU.
    """
    settings = case.settings()
    inputs = prepare_inputs(graph, settings[0], device)

    def trainer(part: Sequence[Settings]) -> Trainer:
        masks = [mask.expand(len(part), -1) for mask in (splits.train, splits.val)]
        train, val = (rows_from_masks(mask, graph.labels, device) for mask in masks)
        model = build_model(graph.num_features, graph.num_classes, part, device)
        if isinstance(model, ComparingNetwork):
            return ComparingTrainer(model, inputs, train, val, part)
        return Trainer(model, inputs, train, val, part)

    workers, threads = share_out(cores, case.runs) if device.type == "cpu" else (1, 1)
    if workers == 1:
        return trainer(settings).program()
    programs = [trainer(settings[worker::workers]).program() for worker in range(workers)]
    pool = ThreadPoolExecutor(workers, initializer=use_threads, initargs=(threads,))

    def epoch() -> None:
        for done in [pool.submit(program) for program in programs]:
            done.result()

    return epoch


def measure(
    case: Case, device: torch.device, threads: int | None = None, budget: float = 6.0
) -> dict[str, Any]:
    """Milliseconds per epoch of ours and of the peer, alternating, and their ratio.

    Args:
        budget: seconds to spend on it.
    """
    keep_freed_memory()
    graph, splits = bench_graph(case.graph)
    chosen = use_threads(threads or worth_cores(graph, case.settings()[0], case.runs))
    epoch = our_epoch(case, graph, splits, device, chosen)

    def ours() -> None:
        for _ in range(case.cycle):
            epoch()

    peer = Peer(graph, splits, case.settings()[0], device).epoch
    mine, theirs = alternate(ours, peer, device, budget)
    one = median(mine) / case.cycle
    return {
        "graph": case.graph,
        "edges": graph.num_edges,
        "form": case.form,
        "max_steps": case.max_steps,
        "strategy": case.strategy,
        **({} if case.judges is None else {"judges": case.judges}),
        "runs": case.runs,
        "threads": chosen,
        "rounds": len(mine),
        "ours_ms": 1e3 * one,
        "peer_ms": 1e3 * median(theirs),
        "ratio": one / median(theirs),
    }


def alternate(
    ours: Callable[[], None], peer: Callable[[], None], device: torch.device, budget: float
) -> tuple[list[float], list[float]]:
    """Time both in turn, so that a busy machine slows both alike."""
    for _ in range(WARM_UP + 1):
        ours()
    peer()
    mine: list[float] = []
    theirs: list[float] = []
    end = time.perf_counter() + budget
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
