"""Tasks one after the other, or side by side in processes; each leaves its file when it is done."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed

from ppro.experiments.tasks import Plan, Task, do
from ppro.training import OnEpoch

OnDone = Callable[[str], None]


def run_tasks(
    tasks: Sequence[Task],
    plan: Plan,
    jobs: int,
    on_done: OnDone,
    on_epoch: OnEpoch | None = None,
) -> None:
    """Do all tasks; what is done when Ctrl-C or an error comes stays done."""
    if jobs == 1:
        for task in tasks:
            on_done(do(task, plan, on_epoch))
        return
    # A process that has touched CUDA cannot be forked.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, max(len(tasks), 1)), mp_context=context)
    futures: list[Future[str]] = [pool.submit(do, task, plan) for task in tasks]
    try:
        for future in as_completed(futures):
            on_done(future.result())
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
