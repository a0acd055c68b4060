"""Ranks as processes of their own: each calls a function, and what it returns is collected."""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
import traceback
from collections.abc import Callable
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import torch

from ppro.distributed import RankGroup, joined

# A server that has imported PyTorch once and forks itself: a rank in a blink.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["tests.distributed.spawned"])
if (ROOT := str(Path(__file__).parents[2])) not in sys.path:
    sys.path.append(ROOT)

Answer = tuple[int, Any, str]


def on_ranks(size: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What ``function(ranks, *arguments)`` returns on each rank."""
    answers: Queue[Answer] = SERVER.Queue()
    port = free_port()
    processes = [
        SERVER.Process(target=_work, args=(rank, size, port, answers, function, arguments))
        for rank in range(size)
    ]
    for process in processes:
        process.start()
    found = sorted((answers.get(timeout=120) for _ in processes), key=lambda answer: answer[0])
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    for rank, _, trouble in found:
        assert not trouble, f"rank {rank}:\n{trouble}"
    return [value for _, value, _ in found]


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _work(
    rank: int,
    size: int,
    port: int,
    answers: Queue[Answer],
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    environment = {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "MASTER_PORT": port}
    os.environ.update({key: str(value) for key, value in environment.items()})
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    torch.set_num_threads(1)
    try:
        with joined() as ranks:
            answer = _plain(function(ranks, *arguments))
        answers.put((rank, answer, ""))
    except BaseException:
        answers.put((rank, None, traceback.format_exc()))


def _plain(value: Any) -> Any:
    """The value with arrays for tensors: those need no shared memory to travel."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


__all__ = ["RankGroup", "free_port", "on_ranks"]
