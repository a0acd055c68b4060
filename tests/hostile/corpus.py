"""The whole corpus: sound files to begin with, and every case that spoils one."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ppro.cli import main
from tests.hostile import folders, readers, words
from tests.hostile.case import SMALL, Case


def write_seeds(folder: Path) -> None:
    """Write sound files of every kind into an empty folder."""
    readers.write_seeds(folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        _ppro(*folders.RUN)
        _ppro("train", *SMALL, "--set", "epochs=2", "--runs", "1", "--out", "other")
        _stopped_training()
        _ppro(*folders.TUNE)
        _ppro("recipes", "show", "cora-l2b", saved=folder / "recipe.toml")
    finally:
        os.chdir(before)


def cases(seeds: Path, seed: int = 0, each: int = 15, settings: int = 3) -> Iterator[Case]:
    """Yield all cases.

    Args:
        each: spoiled files of every kind.
        settings: values of every setting.
    """
    yield from readers.cases(seeds, seed, each)
    yield from folders.cases(seeds, seed, each)
    yield from words.cases(seed, settings)


def _ppro(*arguments: str, saved: Path | None = None) -> None:
    sys.argv = ["ppro", *arguments]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status: object = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code
    assert not status, err.getvalue()
    if saved is not None:
        saved.write_text(out.getvalue(), encoding="utf-8")


def _stopped_training() -> None:
    """Leave the checkpoint of a training that was stopped after its first epoch."""
    from ppro.training.stopping import Record

    update = Record.update

    def stop(record: Record, *arguments: object) -> None:
        if int(record.now):
            raise RuntimeError("stopped")
        update(record, *arguments)  # type: ignore[arg-type]

    Record.update = stop  # type: ignore[method-assign, assignment]
    sys.argv = ["ppro", *folders.CHECKPOINT]
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
            main()
    finally:
        Record.update = update  # type: ignore[method-assign]
