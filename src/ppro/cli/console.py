"""What the commands share: consoles, aligned text, written files, progress."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ppro.cli.streams import PlainConsole
from ppro.errors import RunError
from ppro.files import whole_file

if TYPE_CHECKING:
    from rich.progress import Progress
    from torch import Tensor

    from ppro.training.trainer import OnEpoch

# Paths and error texts may hold brackets and colons: nothing printed is read as markup.
out = PlainConsole(highlight=False, markup=False, emoji=False, soft_wrap=True)
err = PlainConsole(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)

PLAIN_EVERY = 4.0
"""Seconds between progress lines where the output is not a terminal."""

NARROWEST = 40
"""Text is wrapped to the terminal, but not to fewer columns than this."""

saved = False
"""Whether what the command shows lies in a file as well."""

begun = time.monotonic()
"""The moment at which the command began."""

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def begin() -> None:
    """Take note that a command begins."""
    global begun
    begun = time.monotonic()


def note_saved() -> None:
    """Take note that what the command shows lies in a file as well."""
    global saved
    saved = True


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Return rows of cells as lines with aligned columns, two spaces apart.

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
    """Return names and their texts, side by side; a long text goes on below its own beginning."""
    indent = max(len(name) for name, _ in rows) + 2
    return "\n".join(_wrapped(text, f"{name:<{indent}}", " " * indent) for name, text in rows)


def paragraph(text: str) -> str:
    """Return text broken between words to fit the terminal."""
    return _wrapped(text, "", "")


def count(number: int, what: str) -> str:
    """Return a number and what it counts, in the plural unless it is one."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def warn(text: str) -> None:
    """Print a line on standard error that a user should not miss."""
    err.print(text, style="yellow")


def write(path: Path, text: str, option: str = "--out") -> None:
    """Write a text file as a whole.

    Args:
        option: with which the user named it.

    Raises:
        RunError: it cannot be written.
    """
    with writing(path, option), whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


@contextmanager
def writing(path: Path, option: str = "--out") -> Iterator[None]:
    """Say what to do where a file or a folder that the user named cannot be written.

    Args:
        option: with which the user named it.

    Raises:
        RunError: it cannot be written.
    """
    try:
        yield
    except OSError as error:
        reason = f"cannot be written ({error.strerror or error})"
        raise RunError(f"{path}: {reason}; choose another {option}") from None


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
            task, state = bar.add_task("training", total=epochs, state=""), _State()

            def draw(epoch: int, metrics: Tensor, active: int) -> None:
                bar.update(task, completed=epoch, state=state.told(metrics, active))

            yield draw
    else:
        yield _plain()


@contextmanager
def task_progress(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """A line on standard error for each task that is done, with the time that is left.

    Tasks that come up only by what others find are counted when they end.
    """
    print(title, file=sys.stderr, flush=True)
    start, done = time.monotonic(), 0

    def tell(line: str) -> None:
        nonlocal done
        done += 1
        known = max(total, done)
        left = (time.monotonic() - start) / done * (known - done) / 60
        print(f"[{done}/{known}] {line}, about {left:.0f} min left", file=sys.stderr, flush=True)

    yield tell


def _bar() -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(bar_width=16),
        TextColumn("epoch {task.completed}"),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=err, transient=True)


def _plain() -> OnEpoch:
    last, state = time.monotonic(), _State()

    def write(epoch: int, metrics: Tensor, active: int) -> None:
        nonlocal last
        told = state.told(metrics, active)
        if time.monotonic() - last >= PLAIN_EVERY:
            last = time.monotonic()
            print(f"epoch {epoch}: {told}", file=sys.stderr, flush=True)

    return write


class _State:
    """What a line says of a training: runs, and the accuracy of the last validation."""

    accuracy: float | None = None

    def told(self, metrics: Tensor, active: int) -> str:
        """Take note of an epoch; returns the words."""
        from ppro.training.stopping import MEASURED

        found = float(metrics[MEASURED.index("val_accuracy")].nanmean())
        self.accuracy = self.accuracy if found != found else 100 * found
        told = "" if self.accuracy is None else f", val {self.accuracy:.1f} %"
        return f"{active}/{metrics.shape[1]} runs{told}"
