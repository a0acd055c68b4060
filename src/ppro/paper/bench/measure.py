"""Timing our epochs and the peer's in turn."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from statistics import median
from typing import Any

import torch

from ppro.compute.allocator import keep_freed_memory
from ppro.compute.capture import WARM_UP
from ppro.data import Splits
from ppro.graph.core import Graph
from ppro.nn.comparing.network import ComparingNetwork
from ppro.paper.bench.cases import Case, bench_graph
from ppro.paper.bench.counted import count
from ppro.paper.bench.floor import Floor, bandwidth, kernels_of
from ppro.paper.bench.peer import Peer, forms_for, make_peers
from ppro.settings.settings import PPRO, Settings
from ppro.training.assembly import build_model, prepare_inputs, rows_from_masks
from ppro.training.comparing import ComparingTrainer
from ppro.training.threads import share_out, use_threads, worth_cores
from ppro.training.trainer import Trainer

Clock = Callable[[], float]
OURS = "ours"
FAR = {0: 3.0, 2: 1.5}
"""After which rounds a form of the peer is far behind, at how many times the fastest one's time."""


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
    case: Case,
    device: torch.device,
    threads: int | None = None,
    budget: float = 6.0,
    compiled: bool = False,
) -> dict[str, Any]:
    """Milliseconds per epoch of ours and of the peer in all its forms, in turn, and their ratio.

    The fastest form of the peer counts.

    Args:
        budget: seconds to spend on it.
        compiled: whether the peer is compiled as well, which takes up to a minute.
    """
    keep_freed_memory()
    graph, splits = bench_graph(case.graph)
    settings = case.settings()[0]
    chosen = use_threads(threads or worth_cores(graph, settings, case.runs))
    epoch = our_epoch(case, graph, splits, device, chosen)

    def ours() -> None:
        for _ in range(case.cycle):
            epoch()

    peers, skipped = peers_of(replace(case, strategy="none", runs=1, judges=None), device, compiled)
    works = {name: peer.epoch for name, peer in peers.items()}
    clock = clock_for(device, chosen)
    times = in_turn(ours, works, device, budget, clock)
    one, taken = median(times[OURS]) / case.cycle, {name: median(times[name]) for name in works}
    fastest = min(taken, key=lambda name: taken[name])
    return {
        "graph": case.graph,
        "edges": graph.num_edges,
        **({"form": case.form} if case.model == PPRO else {"model": case.model}),
        "max_steps": case.max_steps,
        "strategy": case.strategy,
        **({} if case.judges is None else {"judges": case.judges}),
        "runs": case.runs,
        "threads": chosen,
        "rounds": len(times[OURS]),
        "ours_ms": 1e3 * one,
        "peer_ms": 1e3 * taken[fastest],
        "ratio": one / taken[fastest],
        "peer": fastest,
        "peers_ms": {name: 1e3 * value for name, value in taken.items()},
        **({"skipped": skipped} if skipped else {}),
        **_limit(case, device, min(times[OURS]) / case.cycle, clock),
        "calls": kernels_of(epoch) if device.type == "cuda" else count(epoch).operators,
    }


def clock_for(device: torch.device, threads: int) -> Clock:
    """Return the clock to time with: that of the processor where one thread does all the work.

    It does not go on while others have the processor.
    """
    return time.process_time if device.type == "cpu" and threads == 1 else time.perf_counter


def _limit(case: Case, device: torch.device, seconds: float, clock: Clock) -> dict[str, float]:
    """Return what the epoch must do at least, and the time over what that takes here.

    Args:
        seconds: of the fastest epoch, for the bandwidth is that of the fastest copy.
    """
    if case.judges is not None:
        return {}
    floor = Floor(*bench_graph(case.graph), case.settings()[0], case.runs)
    least, rate = floor.epoch(), bandwidth(floor.working_set, device, clock)
    return {
        "bytes": least.bytes,
        "operations": least.operations,
        "bandwidth": rate,
        "fastest_ms": 1e3 * seconds,
        "over_floor": seconds * rate / least.bytes,
    }


@lru_cache(maxsize=1)
def peers_of(
    case: Case, device: torch.device, compiled: bool
) -> tuple[dict[str, Peer], dict[str, str]]:
    """Return the peer of a case in all forms; cases that differ in strategy follow each other."""
    graph, splits = bench_graph(case.graph)
    forms = forms_for(graph, device, compiled)
    return make_peers(graph, splits, case.settings()[0], device, forms)


def in_turn(
    ours: Callable[[], None],
    peers: Mapping[str, Callable[[], None]],
    device: torch.device,
    budget: float,
    clock: Clock = time.perf_counter,
) -> dict[str, list[float]]:
    """Time ours and all forms of the peer in turn, so that a busy machine slows all alike.

    Forms that are far from the fastest are not timed again after the first rounds.
    """
    for _ in range(WARM_UP + 1):
        ours()
    works = {OURS: ours, **peers}
    times: dict[str, list[float]] = {name: [] for name in works}
    end = time.perf_counter() + budget
    while (rounds := len(times[OURS])) < 3 or (time.perf_counter() < end and rounds < 200):
        for name, work in works.items():
            times[name].append(seconds(work, device, clock))
        if rounds in FAR:
            least = min(median(times[name]) for name in works if name != OURS)
            near = {name for name in works if median(times[name]) < FAR[rounds] * least}
            works = {name: works[name] for name in works if name in near or name == OURS}
    return times


def seconds(work: Callable[[], None], device: torch.device, clock: Clock) -> float:
    """Time of one call, the device's work included."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = clock()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return clock() - start
