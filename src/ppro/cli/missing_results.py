"""What ``ppro reproduce`` runs before it renders: whatever has no result yet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import typer

from ppro.cli import console
from ppro.data import DATASETS
from ppro.errors import SettingsError
from ppro.paper import pool
from ppro.paper.experiment import Plan
from ppro.paper.sections import Words, stages, works_of
from ppro.parts import nearest
from ppro.search.methods import method_names


def run_missing(wanted: Sequence[str], plan: Plan, words: Words, jobs: int) -> None:
    """Run all that has no result yet.

    Args:
        wanted: names of tables and figures, in their order.
    """
    try:
        for sections in stages(wanted):
            ask = partial(works_of, sections, plan, words)
            todo = pool.missing(ask(), plan.store)
            if todo:
                title = f"{', '.join(s.name for s in sections)}: {len(todo)} experiments to run"
                with console.task_progress(title, len(todo)) as on_done:
                    pool.run_missing(ask, plan, jobs, on_done)
    except KeyboardInterrupt:
        kept = f"interrupted: what was finished is kept in {plan.root}; the same command goes on"
        console.err.print(kept)
        raise typer.Exit(console.INTERRUPTED) from None


def chosen_words(only: Sequence[str] | None) -> Words:
    """Return the datasets, splits and methods that the user named."""
    words, methods = set(only or []), set(method_names())
    splits = {split for info in DATASETS.values() for split in info.splits}
    valid = {*DATASETS, *methods, *splits}
    for word in sorted(words - valid):
        raise SettingsError(f"--only {word}: unknown; {nearest(word, tuple(valid))}")
    return words & set(DATASETS), words & splits, words & methods
