"""What ``ppro reproduce`` runs before it renders: whatever has no result yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import typer

from ppro.cli import console
from ppro.data import DATASETS
from ppro.errors import SettingsError
from ppro.paper import added, rounds, shipped
from ppro.paper.automatic import ON_CPU, ON_GPU, Automatic
from ppro.paper.cells import Cell
from ppro.paper.figures import FIGURES, FigureSpec
from ppro.paper.figures.work import missing, run_works
from ppro.paper.finals import FINALS
from ppro.paper.methods import METHODS
from ppro.paper.playoffs import PLAYOFFS
from ppro.paper.pool import OnDone, Work, run_tasks
from ppro.paper.rounds import Round
from ppro.paper.tables import EIGHT, TABLES, Table
from ppro.paper.tasks import Plan, Task, missing_tasks
from ppro.parts import nearest
from ppro.settings.recipes import shipped_recipe

Words = tuple[set[str], set[str], set[str]]
"""Datasets, splits and methods; an empty set stands for all."""


def run_missing(wanted: Sequence[str], plan: Plan, words: Words, jobs: int) -> None:
    """Run all that has no result yet.

    Args:
        wanted: names of tables and figures, in their order.
    """
    tables = [TABLES[key]() for key in wanted if key in TABLES]
    figures = [FIGURES[key] for key in wanted if key in FIGURES]
    try:
        _run([*tables, *(f.table() for f in figures if f.table is not None)], plan, words, jobs)
        for round_ in (FINALS, PLAYOFFS):
            if round_.key in wanted:
                _run_round(round_, plan, words, jobs)
        if {"shipped", "rounds"} & set(wanted):
            _run_shipped(shipped.names(), plan, words, jobs)
        if "added" in wanted:
            _run_added(plan, words, jobs)
        for choice in (ON_CPU, ON_GPU):
            if choice.key in wanted:
                _run_auto(choice, plan, words, jobs)
        _run_figures(figures, plan, words, jobs)
    except KeyboardInterrupt:
        kept = f"interrupted: what was finished is kept in {plan.root}; the same command goes on"
        console.err.print(kept)
        raise typer.Exit(console.INTERRUPTED) from None


def chosen_words(only: Sequence[str] | None) -> Words:
    """The datasets, splits and methods that the user named."""
    words = set(only or [])
    splits = {split for info in DATASETS.values() for split in info.splits}
    valid = {*DATASETS, *METHODS, *splits}
    for word in sorted(words - valid):
        raise SettingsError(f"--only {word}: unknown; {nearest(word, tuple(valid))}")
    return words & set(DATASETS), words & splits, words & set(METHODS)


def _chosen(cell: Cell, words: Words) -> bool:
    parts = cell.dataset, cell.split, cell.method
    return all(not named or part in named for part, named in zip(parts, words, strict=True))


def _do(
    title: str,
    todo: Sequence[Work],
    run: Callable[[Sequence[Work], Plan, int, OnDone], None],
    plan: Plan,
    jobs: int,
) -> None:
    """Run what is to do, if there is anything, and show how far it is."""
    if todo:
        with console.task_progress(title, len(todo)) as on_done:
            run(todo, plan, jobs, on_done)


def _run(tables: Sequence[Table], plan: Plan, words: Words, jobs: int) -> None:
    tasks: dict[str, Task] = {}
    for table in tables:
        cells = [cell for cell in table.cells() if _chosen(cell, words)]
        tasks |= {
            task.label: task for task in missing_tasks(cells, plan) if task.label not in tasks
        }
    kinds = [task.kind for task in tasks.values()]
    title = f"{kinds.count('search')} searches and {kinds.count('cell')} cells to do"
    _do(title, list(tasks.values()), run_tasks, plan, jobs)


def _run_round(round_: Round, plan: Plan, words: Words, jobs: int) -> None:
    graphs = words[0] or set(DATASETS)
    todo = round_.missing([n for n in rounds.names() if rounds.parts_of(n)[0] in graphs], plan)
    _do(f"{len(todo)} {round_.key} to run", todo, round_.run, plan, jobs)


def _run_shipped(names: Sequence[str], plan: Plan, words: Words, jobs: int) -> None:
    graphs = words[0] or set(DATASETS)
    todo = shipped.missing([n for n in names if shipped_recipe(n).dataset in graphs], plan)
    _do(f"{len(todo)} recipes to train", todo, shipped.run_recipes, plan, jobs)


def _run_added(plan: Plan, words: Words, jobs: int) -> None:
    _run_shipped([f"{d}-none" for d in EIGHT], plan, words, jobs)
    todo = added.missing([d for d in EIGHT if not words[0] or d in words[0]], plan)
    _do(f"{len(todo)} trainings to do", todo, added.run, plan, jobs)


def _run_auto(choice: Automatic, plan: Plan, words: Words, jobs: int) -> None:
    todo = choice.missing([d for d in EIGHT if not words[0] or d in words[0]], plan)
    _do(f"{len(todo)} graphs to choose for", todo, choice.run, plan, jobs)


def _run_figures(figures: Sequence[FigureSpec], plan: Plan, words: Words, jobs: int) -> None:
    works = [w for figure in figures for w in figure.works() if _chosen(w.cell, words)]
    todo = missing(works, plan)
    _do(f"{len(todo)} trainings for figures to do", todo, run_works, plan, jobs)
