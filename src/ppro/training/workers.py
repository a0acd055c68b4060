"""Several trainers side by side, one thread each: on a CPU the runs are the best thing to split.

Threads inside one sparse product wait for each other at every step; runs never do.
"""

from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Lock

import torch
from torch import Tensor

from ppro.training.stopping import History
from ppro.training.threads import use_threads
from ppro.training.trainer import OnEpoch, Trainer


class _Joined:
    """Reports the epochs of several trainers as those of one; stops them all on request."""

    def __init__(self, trainers: Sequence[Trainer], on_epoch: OnEpoch | None) -> None:
        self.on_epoch = on_epoch
        self.stop = False
        self.lock = Lock()
        self.going = [int(trainer.record.going.sum()) for trainer in trainers]
        self.latest = [torch.full_like(trainer.record.log[0], torch.nan) for trainer in trainers]
        self.done = 0

    def listener(self, part: int) -> OnEpoch:
        """Return what trainer number ``part`` calls after an epoch."""

        def listen(done: int, metrics: Tensor, going: int) -> None:
            if self.stop:
                raise KeyboardInterrupt
            with self.lock:
                self.going[part], self.latest[part] = going, metrics
                if self.on_epoch is not None and done > self.done:
                    self.done = done
                    self._report()

        return listen

    def _report(self) -> None:
        try:
            assert self.on_epoch is not None
            self.on_epoch(self.done, torch.cat(self.latest, dim=1), sum(self.going))
        except BaseException:
            self.stop = True
            raise


def train_side_by_side(
    trainers: Sequence[Trainer], threads: int, on_epoch: OnEpoch | None = None
) -> History:
    """Run every trainer in a thread of its own; Ctrl-C ends them all in their best states."""
    joined = _Joined(trainers, on_epoch)

    def work(part: int) -> History:
        use_threads(threads)
        return trainers[part].run(joined.listener(part))

    with ThreadPoolExecutor(len(trainers)) as pool:
        futures = [pool.submit(work, part) for part in range(len(trainers))]
        with suppress(KeyboardInterrupt):
            while not _over(futures):
                continue
        joined.stop = True
        wait(futures)
    # A trainer that failed stopped the others; its error is the one to tell.
    failed = [error for future in futures if (error := future.exception()) is not None]
    for error in sorted(failed, key=lambda error: isinstance(error, KeyboardInterrupt)):
        raise error
    return _join([future.result() for future in futures])


def _over(futures: Sequence[Future[History]]) -> bool:
    """Tell whether all are done or one has failed; waits in naps, so that Ctrl-C gets through."""
    done, going = wait(futures, timeout=0.2, return_when=FIRST_EXCEPTION)
    return not going or any(future.exception() is not None for future in done)


def _join(parts: Sequence[History]) -> History:
    epochs = max(part.metrics.shape[0] for part in parts)
    padded = []
    for part in parts:
        missing = part.metrics.new_full(
            (epochs - part.metrics.shape[0], *part.metrics.shape[1:]), torch.nan
        )
        padded.append(torch.cat([part.metrics, missing]))
    return History(
        torch.cat(padded, dim=2),
        torch.cat([part.best_epoch for part in parts]),
        torch.cat([part.epochs for part in parts]),
        any(part.interrupted for part in parts),
    )
