"""What the commands share: consoles, error handling, progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from torch import Tensor

from ppro.training import METRICS, OnEpoch

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

PLAIN_EVERY = 10.0
"""Seconds between progress lines where the output is not a terminal."""

_VAL = METRICS.index("val_accuracy")


@contextmanager
def training_progress(epochs: int, patience: int) -> Iterator[OnEpoch]:
    """A progress bar on a terminal, a line now and then elsewhere; both on standard error."""
    if err.is_terminal:
        with _bar() as bar:
            task = bar.add_task("training", total=epochs, state=f"patience {patience}")

            def draw(epoch: int, metrics: Tensor, active: int) -> None:
                bar.update(task, completed=epoch, state=_state(metrics, active))

            yield draw
    else:
        yield _plain()


def _bar() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("epoch {task.completed}, at most {task.total}"),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=err, transient=True)


def _plain() -> OnEpoch:
    last = time.monotonic()

    def write(epoch: int, metrics: Tensor, active: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PLAIN_EVERY:
            last = time.monotonic()
            print(f"epoch {epoch}: {_state(metrics, active)}", file=sys.stderr, flush=True)

    return write


def _state(metrics: Tensor, active: int) -> str:
    accuracy = 100 * float(metrics[_VAL].nanmean())
    return f"{active} of {metrics.shape[1]} runs training, validation {accuracy:.1f} %"
