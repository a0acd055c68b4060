"""Experiments one after the other, or side by side in processes; each leaves its file when done."""

import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from threading import Thread

from ppro.paper.experiment import Plan, Work
from ppro.paper.store import Store
from ppro.parts.scripts import load_scripts, loaded
from ppro.processes import safe_path

OnDone = Callable[[str], None]
Ask = Callable[[], Sequence[Work]]


class OutOfTimeError(Exception):
    """The time that was given is over, before all was run."""


def missing(works: Sequence[Work], store: Store) -> list[Work]:
    """Return the works that are not done, each place once, in their order."""
    found = {work.place: work for work in reversed(works)}
    wanted = [work for work in works if found[work.place] is work]
    return [work for work in wanted if not work.is_done(store)]


def run_missing(
    ask: Ask, plan: Plan, jobs: int, on_done: OnDone, until: float | None = None
) -> None:
    """Run all that is missing; what is done when an error comes stays done.

    Some works can begin only when others are done, so works are asked for again whenever a process
    is free and all works that could begin have begun.

    Args:
        ask: returns what is wanted, as far as results tell by now, the most urgent first.
        jobs: works side by side, each in a process of its own; 1 for none but this one, unless it
            may have to be ended.
        until: the time, of ``time.monotonic``, at which to stop: works of that moment are ended.

    Raises:
        OutOfTimeError: it was time to stop.
    """
    if jobs > 1 or until is not None:
        with safe_path():
            _run_side_by_side(ask, plan, jobs, on_done, until)
        return
    begun = set[str]()
    while todo := _ready(ask, plan, begun):
        for work in todo:
            begun.add(work.place)
            on_done(work.run(plan))


def _ready(ask: Ask, plan: Plan, begun: set[str]) -> list[Work]:
    works = missing(ask(), plan.store)
    return [work for work in works if work.is_ready and work.place not in begun]


def _run_side_by_side(
    ask: Ask, plan: Plan, jobs: int, on_done: OnDone, until: float | None
) -> None:
    # A process that has touched CUDA cannot be forked.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(loaded(),))
    todo, begun, going = list[Work](), set[str](), set[Future[str]]()
    try:
        while True:
            if len(going) < jobs and not todo:
                todo = _ready(ask, plan, begun)
            while todo and len(going) < jobs:
                work = todo.pop(0)
                begun.add(work.place)
                going.add(pool.submit(work.run, plan))
            if not going:
                break
            left = None if until is None else until - time.monotonic()
            finished = wait(going, left, return_when=FIRST_COMPLETED).done
            if not finished:
                raise OutOfTimeError
            for future in finished:
                going.remove(future)
                on_done(future.result())
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _begin(scripts: Sequence[str]) -> None:
    """Prepare a process: it knows the parts of the same scripts, and ends with its parent."""
    _end_with_the_parent()
    load_scripts(scripts)


def _end_with_the_parent() -> None:
    """Let this process end when the one that started it is gone, even if that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        # No handler may run: another process may be at the same work by now.
        os._exit(1)

    Thread(target=watch, daemon=True).start()
