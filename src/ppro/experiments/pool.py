"""Work one after the other, or side by side in processes; each leaves its file when it is done."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import TypeVar

from ppro.experiments.tasks import Plan, Task, do

OnDone = Callable[[str], None]
Work = TypeVar("Work")


def run_tasks(tasks: Sequence[Task], plan: Plan, jobs: int, on_done: OnDone) -> None:
    """Do all tasks of tables; what is done when Ctrl-C or an error comes stays done."""
    run_all(do, tasks, plan, jobs, on_done)


def run_all(
    do_one: Callable[[Work, Plan], str],
    works: Sequence[Work],
    plan: Plan,
    jobs: int,
    on_done: OnDone,
) -> None:
    """Do all works, each of which returns a line; what is done when an error comes stays done."""
    if jobs == 1:
        for work in works:
            on_done(do_one(work, plan))
        return
    # A process that has touched CUDA cannot be forked.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, max(len(works), 1)), mp_context=context)
    futures: list[Future[str]] = [pool.submit(do_one, work, plan) for work in works]
    try:
        for future in as_completed(futures):
            on_done(future.result())
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
