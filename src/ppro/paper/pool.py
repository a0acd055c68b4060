"""Work one after the other, or side by side in processes; each leaves its file when it is done."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from threading import Thread
from typing import TypeVar

from ppro.paper.tasks import Plan, Task, do

OnDone = Callable[[str], None]
Work = TypeVar("Work")


def run_tasks(tasks: Sequence[Task], plan: Plan, jobs: int, on_done: OnDone) -> None:
    """Do all tasks of tables, a cell after its search; what is done when an error comes stays so.

    Args:
        tasks: in the order of their importance, no cell before its search.
    """
    run_all(do, tasks, plan, jobs, on_done, rests_on=Task.rests_on)


def run_all(
    do_one: Callable[[Work, Plan], str],
    works: Sequence[Work],
    plan: Plan,
    jobs: int,
    on_done: OnDone,
    rests_on: Callable[[Work, Work], bool] | None = None,
) -> None:
    """Do all works, each of which returns a line; what is done when an error comes stays done.

    Args:
        rests_on: whether the first of two works must wait for the second.
    """
    if jobs == 1:
        for work in works:
            on_done(do_one(work, plan))
        return
    # A process that has touched CUDA cannot be forked.
    context = multiprocessing.get_context("spawn")
    workers = min(jobs, max(len(works), 1))
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_the_parent)
    todo, going = list(works), dict[Future[str], Work]()
    try:
        while todo or going:
            for work in _ready(todo, list(going.values()), jobs - len(going), rests_on):
                todo.remove(work)
                going[pool.submit(do_one, work, plan)] = work
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                del going[future]
                on_done(future.result())
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _end_with_the_parent() -> None:
    """Let this process end when the one that started it is gone, even if that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        # No handler may run: another process may be at the same work by now.
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _ready(
    todo: Sequence[Work],
    going: Sequence[Work],
    number: int,
    rests_on: Callable[[Work, Work], bool] | None,
) -> list[Work]:
    """The first works that wait for none that is still to be done."""
    found: list[Work] = []
    for i, work in enumerate(todo):
        if len(found) == number:
            break
        before = [*going, *todo[:i]]
        if rests_on is None or not any(rests_on(work, other) for other in before):
            found.append(work)
    return found
