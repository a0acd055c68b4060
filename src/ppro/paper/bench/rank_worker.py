"""One rank of a measured training, or the one process that it is compared with.

``python -m ppro.paper.bench.rank_worker TASK OUT``: the environment says which rank this is,
the task what to train. Every rank writes what it measured; rank 0 also what the training came to.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ppro.data import Splits, load_graph, make_splits
from ppro.data.large import read_large
from ppro.data.splits import fixed_splits
from ppro.distributed import RankGroup, SharedTraining, joined
from ppro.graph.core import Graph
from ppro.paper.bench.memory import status_kib
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit

PRODUCTS = 20
"""Products over which the bytes of one are measured."""
EVERY = 0.005
"""Seconds between two looks at the memory."""


@dataclass(frozen=True)
class Task:
    """What is trained.

    Args:
        graph: a graph of the catalogue, or the folder of a large one.
        settings: those that differ from the usual.
        options: of a generated graph.
    """

    graph: str
    settings: dict[str, Any]
    runs: int = 1
    options: dict[str, float] = field(default_factory=dict)

    def load(self) -> tuple[Graph, Splits]:
        """Return the graph and the masks of its runs."""
        if Path(self.graph).is_dir():
            graph, masks = read_large(Path(self.graph))
            assert masks is not None
            return graph, fixed_splits(masks, graph.labels, "stated", self.runs)
        found = load_graph(self.graph, options=self.options)
        return found, make_splits(found, self.graph, "random-60-20-20", self.runs, 0)

    def run_settings(self) -> list[Settings]:
        """Return the settings of each run."""
        return [Settings(**self.settings, seed=run) for run in range(self.runs)]


class Memory:
    """The most memory of its own that the process has had, beyond what it began with."""

    def __init__(self) -> None:
        self.begin = self.peak = status_kib("RssAnon")
        self._over = threading.Event()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look at the memory now and then while the block runs; the peak is that of the block."""
        self.peak = status_kib("RssAnon")
        self._over.clear()
        watcher = threading.Thread(target=self._watch)
        watcher.start()
        try:
            yield
        finally:
            self._over.set()
            watcher.join()

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            self.peak = max(self.peak, status_kib("RssAnon"))

    @property
    def mib(self) -> float:
        """Return the peak, without what there was before the graph."""
        return (self.peak - self.begin) / 1024


def written_bytes() -> int:
    """Bytes that this process has written to files and sockets, as the system counts them."""
    for line in Path("/proc/self/io").read_text(encoding="ascii").splitlines():
        if line.startswith("wchar:"):
            return int(line.split()[1])
    return 0


def bytes_of_a_product(training: SharedTraining) -> float:
    """Return bytes that this rank writes to the network for one product, headers and all."""
    shard, ranks = training.shard, training.ranks
    classes = shard.num_classes
    h = torch.randn(len(training.settings), shard.labels.shape[0], classes)
    out = torch.empty_like(h)
    shard.inputs.adjacency.mix_into(out, h, h, 0.1)
    ranks.wait()
    before = written_bytes()
    for _ in range(PRODUCTS):
        shard.inputs.adjacency.mix_into(out, h, h, 0.1)
    return (written_bytes() - before) / PRODUCTS


def alone(task: Task, memory: Memory) -> tuple[dict[str, Any], Fit]:
    """Return the training on one process, by the usual path."""
    graph, splits = task.load()
    with memory.watched():
        result = fit(graph, splits, task.run_settings(), threads=1)
    return {"memory_mib": memory.mib, "nodes": graph.num_nodes, "edges": graph.num_edges}, result


def together(task: Task, ranks: RankGroup, memory: Memory) -> tuple[dict[str, Any], Fit | None]:
    """Return the training on this rank, and what it exchanged."""
    graph, splits = task.load()
    begin = time.perf_counter()
    with memory.watched():
        training = SharedTraining.prepare(graph, splits, task.run_settings(), ranks, threads=1)
    prepared, prepared_s = memory.mib, time.perf_counter() - begin
    per_product, plan = bytes_of_a_product(training), training.shard.plan
    del graph, splits
    before = asdict(ranks.traffic)
    with memory.watched():
        result = training.run()
    traffic = {key: value - before[key] for key, value in asdict(ranks.traffic).items()}
    measured = {
        "memory_mib": memory.mib,
        "prepare_memory_mib": prepared,
        "prepare_s": prepared_s,
        "rows": plan.nodes.shape[0],
        "ghosts": plan.ghosts.shape[0],
        "classes": training.shard.num_classes,
        "bytes_of_a_product": per_product,
        "traffic": traffic,
    }
    return measured, result


def essence(result: Fit) -> dict[str, Any]:
    """Return what is compared, as arrays."""
    return {
        "metrics": result.history.metrics.numpy(),
        "steps": result.nodes.steps.numpy(),
        "predictions": result.nodes.probabilities.argmax(-1).numpy(),
        "seconds": np.array(result.seconds),
    }


def main(task: Task, out: Path) -> None:
    """Train as the environment says and write what was measured."""
    rank, memory = os.environ["RANK"], Memory()
    result: Fit | None
    if os.environ["WORLD_SIZE"] == "1":
        measured, result = alone(task, memory)
    else:
        with joined() as ranks:
            measured, result = together(task, ranks, memory)
    (out / f"{rank}.json").write_text(json.dumps(measured), encoding="utf-8")
    if result is not None:
        np.savez(out / "result.npz", **essence(result))


if __name__ == "__main__":
    main(Task(**json.loads(sys.argv[1])), Path(sys.argv[2]))
