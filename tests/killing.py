"""A training in a process of its own, killed at random moments until it comes to its end."""

from __future__ import annotations

import multiprocessing
import random
import shutil
import signal
import sys
import time
from multiprocessing.synchronize import Event
from pathlib import Path

import torch
from torch import Tensor

from ppro.data import Splits, load_graph, make_splits
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.checkpoint import Checkpointing
from ppro.training.fit import Fit, fit

# A server that has imported PyTorch once and forks itself: a process to kill in a blink.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["tests.killing"])
if (ROOT := str(Path(__file__).parent.parent)) not in sys.path:
    sys.path.append(ROOT)

RUNS, EPOCHS = 4, 400
OPTIONS = {"nodes": 200, "classes": 3, "features": 32, "degree": 4}


def world() -> tuple[Graph, Splits, list[Settings]]:
    """Runs of different learning rates, so that they stop one after another."""
    graph = load_graph("csbm", options=OPTIONS)
    splits = make_splits(graph, "csbm", "random-60-20-20", RUNS, 0)
    base = Settings(hidden=16, controller_units=8, max_steps=4, epochs=EPOCHS, patience=60)
    rates = (0.001, 0.002, 0.02, 0.1)
    return graph, splits, [base.replace(seed=s, lr=lr) for s, lr in enumerate(rates)]


def train(folder: Path, threads: int) -> Fit:
    """Go on from what the folder holds, saving twenty times a second."""
    graph, splits, settings = world()
    plan = Checkpointing(folder, every=0.05, resume=True)
    return fit(graph, splits, settings, threads=threads, checkpoint=plan)


def essence(result: Fit) -> dict[str, Tensor]:
    """Everything that must be the same, bit by bit."""
    return {
        **result.model.state_dict(),
        "metrics": result.history.metrics.nan_to_num(-1),
        "best_epoch": result.history.best_epoch,
        "epochs": result.history.epochs,
        "probabilities": result.nodes.probabilities,
        "steps": result.nodes.steps,
        "priorities": result.nodes.priorities,
    }


def same(a: Fit, b: Fit) -> bool:
    """Whether two results agree in every bit."""
    one, other = essence(a), essence(b)
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


def kill_once(folder: Path, threads: int, wait: float) -> bool:
    """Train in another process and kill -9 it; whether it was still training."""
    ready = SERVER.Event()
    process = SERVER.Process(target=_to_be_killed, args=(folder, threads, ready))
    process.start()
    assert ready.wait(60)
    time.sleep(wait)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def _to_be_killed(folder: Path, threads: int, ready: Event) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    ready.set()
    train(folder, threads)


def kill_and_resume(folder: Path, kills: int, threads: int, each: bool) -> int:
    """Kill a training at random moments, each time resuming it; returns the moments that hit.

    Args:
        each: after every kill finish a copy of the checkpoint, instead of only the last one.
    """
    chance, hits, life = random.Random(threads), 0, 0
    graph, splits, settings = world()
    whole = fit(graph, splits, settings, threads=threads)
    while hits < kills:
        place = folder / str(life)
        hit = kill_once(place, threads, chance.uniform(0, 0.4))
        hits += hit
        if each or not hit or hits == kills:
            shutil.copytree(place, folder / "copy")
            assert same(train(folder / "copy", threads), whole)
            shutil.rmtree(folder / "copy")
        life += not hit
    return hits
