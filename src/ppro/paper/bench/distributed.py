"""Several ranks on this machine against one process: what they say, exchange and hold."""

import json
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ppro.errors import PProError
from ppro.paper.bench.cost import Workload, predict
from ppro.paper.bench.rank_worker import Task
from ppro.processes import run_module, start_module
from ppro.training.stopping import MEASURED

WORKER = "ppro.paper.bench.rank_worker"
# With a fixed threshold, freed blocks go back to the system and memory follows what is alive.
_FIXED = {"OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
LOSSES = ("train_loss", "controller_loss", "val_loss")


@dataclass(frozen=True, eq=False)
class Answer:
    """What a training by some ranks came to.

    Args:
        ranks: what each rank measured.
        arrays: metrics, steps and predictions.
    """

    ranks: list[dict[str, Any]]
    arrays: dict[str, Any]


def trained(task: Task, size: int) -> Answer:
    """Train on so many ranks, each a process of its own with one thread.

    Raises:
        PProError: a rank failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = [json.dumps(asdict(_anywhere(task))), folder]
        shared = {
            **_FIXED,
            "WORLD_SIZE": size,
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": free_port(),
        }
        processes = [
            start_module(WORKER, words, Path(folder), env={**shared, "RANK": r, "LOCAL_RANK": r})
            for r in range(size)
        ]
        ended = [process.wait() for process in processes]
        if any(ended):
            raise PProError(f"training {task.graph} on {size} ranks failed; see the lines above")
        files = [Path(folder) / f"{rank}.json" for rank in range(size)]
        found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        with np.load(Path(folder) / "result.npz", allow_pickle=False) as arrays:
            return Answer(found, dict(arrays))


def _anywhere(task: Task) -> Task:
    """Return the task as a process in any folder understands it."""
    folder = Path(task.graph)
    return replace(task, graph=str(folder.absolute())) if folder.is_dir() else task


def free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def compared(task: Task, name: str, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Return one row for each number of ranks: how far it is from one process, and what it cost."""
    one = trained(task, 1)
    rows = [_alone(task, name, one)]
    for size in sizes:
        many = trained(task, size)
        rows.append(
            {**_alone(task, name, many), **_difference(many, one), **_exchanged(task, many)}
        )
        rows[-1] |= {"nodes": one.ranks[0]["nodes"], "edges": one.ranks[0]["edges"]}
    return rows


def _alone(task: Task, name: str, answer: Answer) -> dict[str, Any]:
    epochs = int(answer.arrays["metrics"].shape[0])
    held = [rank["memory_mib"] for rank in answer.ranks]
    return {
        "graph": name,
        "settings": task.settings,
        "runs": task.runs,
        "ranks": len(answer.ranks),
        "epochs": epochs,
        "epoch_s": float(answer.arrays["seconds"]) / epochs,
        "memory_mib": held,
        "most_memory_mib": max(held),
        **{key: answer.ranks[0][key] for key in ("nodes", "edges") if key in answer.ranks[0]},
    }


def _difference(many: Answer, one: Answer) -> dict[str, Any]:
    """How far the ranks are from one process: losses in their worst epoch, shares of the nodes."""
    apart = np.abs(many.arrays["metrics"] - one.arrays["metrics"])
    worst = {name: float(np.nanmax(apart[:, MEASURED.index(name)])) for name in LOSSES}
    return {
        "apart": worst,
        "largest_loss_difference": max(worst.values()),
        "epochs_within": {str(most): _epochs_within(apart, most) for most in (1e-6, 1e-5, 1e-4)},
        "same_steps": float((many.arrays["steps"] == one.arrays["steps"]).mean()),
        "same_predictions": float((many.arrays["predictions"] == one.arrays["predictions"]).mean()),
    }


def _epochs_within(apart: Any, most: float) -> int:
    """First epochs of which no loss is further apart.

    Sooner or later rounding moves the argument of a ReLU across 0; its gradient then jumps.
    """
    beyond = (apart[:, [MEASURED.index(name) for name in LOSSES]] > most).any((1, 2))
    return int(beyond.argmax()) if beyond.any() else len(beyond)


def _exchanged(task: Task, answer: Answer) -> dict[str, Any]:
    """Return bytes of a product beside the cost model, and what preparing took."""
    ranks, size = answer.ranks, len(answer.ranks)
    rows, ghosts = (sum(rank[key] for rank in ranks) for key in ("rows", "ghosts"))
    graph = Workload(task.graph, rows, 1, 1, ranks[0]["classes"])
    model = size * predict(graph, size, ghosts / rows).received * task.runs
    measured = sum(rank["bytes_of_a_product"] for rank in ranks)
    return {
        "ghosts": [rank["ghosts"] for rank in ranks],
        "boundary": ghosts / rows,
        "product_bytes": measured,
        "model_bytes": model,
        "measured_to_model": measured / model,
        "exchanges": ranks[0]["traffic"]["exchanges"],
        "exchanged_bytes": sum(rank["traffic"]["exchanged"] for rank in ranks),
        "reduced_bytes": ranks[0]["traffic"]["reduced"],
        "prepare_memory_mib": [rank["prepare_memory_mib"] for rank in ranks],
        "prepare_s": ranks[0]["prepare_s"],
    }


def consecutive(times: int, words: Sequence[str]) -> dict[str, Any]:
    """Start two ranks by torchrun so many times; returns how they ended.

    Args:
        words: the command, without ``ppro``.
    """
    launch = ["--standalone", "--nproc-per-node=2", "-m", "ppro"]
    failures = []
    for number in range(times):
        with tempfile.TemporaryDirectory() as folder:
            command = [*launch, *words, "--out", str(Path(folder) / "run")]
            ended = run_module("torch.distributed.run", command, capture_output=True, env=_FIXED)
            whole = (Path(folder) / "run" / "result.json").is_file()
        if ended.returncode or not whole or "terminate called" in ended.stderr:
            failures.append({"run": number, "status": ended.returncode, "end": ended.stderr[-500:]})
    return {"command": " ".join(words), "runs": times, "ranks": 2, "failures": failures}
