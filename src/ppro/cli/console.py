"""What the commands share: consoles, aligned text, notes on data, progress."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from torch import Tensor

from ppro.training.stopping import MEASURED
from ppro.training.trainer import OnEpoch

# Paths and error texts may hold brackets and colons: nothing printed is read as markup.
out = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)

PLAIN_EVERY = 10.0
"""Seconds between progress lines where the output is not a terminal."""

NARROWEST = 40
"""Text is wrapped to the terminal, but not to fewer columns than this."""

CORNELL = (
    "cornell is the corrected graph. cornell-legacy, the file behind most published tables, is "
    "flawed: its features and labels are a copy of Texas's, on Cornell's edges."
)

_VAL = MEASURED.index("val_accuracy")


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Rows of cells as lines with aligned columns, two spaces apart.

    Args:
        right: the columns whose cells end, not begin, at the same place.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = (
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def fields(rows: Sequence[tuple[str, str]]) -> str:
    """Names and their texts, side by side; a long text goes on below its own beginning."""
    indent = max(len(name) for name, _ in rows) + 2
    return "\n".join(_wrapped(text, f"{name:<{indent}}", " " * indent) for name, text in rows)


def paragraph(text: str) -> str:
    """Text broken between words to fit the terminal."""
    return _wrapped(text, "", "")


def _wrapped(text: str, first: str, rest: str) -> str:
    return textwrap.fill(
        text,
        max(shutil.get_terminal_size().columns, NARROWEST),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


@contextmanager
def training_progress(epochs: int) -> Iterator[OnEpoch]:
    """A progress bar on a terminal, a line now and then elsewhere; both on standard error."""
    if err.is_terminal:
        with _bar() as bar:
            task = bar.add_task("training", total=epochs, state="")

            def draw(epoch: int, metrics: Tensor, active: int) -> None:
                bar.update(task, completed=epoch, state=_state(metrics, active))

            yield draw
    else:
        yield _plain()


@contextmanager
def task_progress(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """A line on standard error for each task that is done, with the time that is left."""
    print(title, file=sys.stderr, flush=True)
    start, done = time.monotonic(), 0

    def tell(line: str) -> None:
        nonlocal done
        done += 1
        left = (time.monotonic() - start) / done * (total - done) / 60
        print(f"[{done}/{total}] {line}, about {left:.0f} min left", file=sys.stderr, flush=True)

    yield tell


def _bar() -> Progress:
    columns = (
        BarColumn(bar_width=16),
        TextColumn("epoch {task.completed}"),
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
    return f"{active}/{metrics.shape[1]} runs, val {accuracy:.1f} %"
