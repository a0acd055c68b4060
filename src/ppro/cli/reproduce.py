"""``ppro reproduce``: the paper's tables and figures, run where they are missing and rendered."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ppro.cli import console
from ppro.cli.options import DataRoot, Device, Offline, shown
from ppro.data.catalog import DATASETS
from ppro.data.names import SPLITS
from ppro.errors import SettingsError
from ppro.parts import nearest
from ppro.settings.limits import CONFIGURATIONS

if TYPE_CHECKING:
    from ppro.paper.experiment import Plan
    from ppro.paper.sections import Words

LIST = "list"
BY_NUMBER = {
    "table1": "homophilous",
    "table2": "heterophilous",
    "table3": "backbones",
    "table4": "depth",
    "table5": "l2p",
    "table6": "datasets",
}
"""The paper's tables by their numbers."""


def names_of_results() -> dict[str, tuple[str, ...]]:
    """Return what can be reproduced, by kind."""
    from ppro.paper.figures import FIGURES
    from ppro.paper.sections import SECTIONS

    tables = tuple(name for name in SECTIONS if name not in FIGURES)
    return {"tables": tables, "figures": tuple(FIGURES)}


def reproduce(  # noqa: PLR0913 - one argument per option
    names: Annotated[
        list[str],
        typer.Argument(
            help="Tables and figures by name, run in their order, or table1 … table6; all; or "
            "list, which names them.",
            metavar="NAME…",
        ),
    ],
    runs: Annotated[int, typer.Option(min=1, help="Runs of every cell.")] = 10,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only this dataset, split or method. Repeat for more."),
    ] = None,
    steps: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Only this depth of Table 4. Repeat for more."),
    ] = None,
    device: Device = "auto",
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Two runs of 50 epochs, no search: to see that everything works."
        ),
    ] = False,
    configurations: Annotated[
        int, typer.Option(min=1, help="Configurations that every search tries.")
    ] = CONFIGURATIONS,
    space: Annotated[
        str | None,
        shown(
            "What searches draw from: own, the space of each table, or paper, the exact grid of "
            "the paper for every method.",
            "own",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Tasks side by side, each a process.")] = 1,
    minutes: Annotated[
        float | None,
        typer.Option(min=0, help="Stop after so long; the same command goes on another time."),
    ] = None,
    results: Annotated[
        Path | None,
        shown(
            "Folder of the result files.",
            "results; results-quick with --quick, results-paper with --space paper",
            readable=False,
        ),
    ] = None,
    render_only: Annotated[
        bool, typer.Option("--render-only", help="Run nothing; render what is there.")
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Write all that is rendered as a Markdown page; where all is, rounds.md, "
            "settings.md and comparisons.md beside it have what stands behind it. Pictures go to "
            "figures/ beside it.",
            readable=False,
        ),
    ] = None,
    data_root: DataRoot = None,
    offline: Offline = False,
) -> None:
    """Reproduce a table or a figure of the paper: search settings, run what is missing, render it.

    Every search and every cell leaves a file as soon as it is done, every batch of runs until then;
    after a stop the same command goes on where it was. Settings are chosen on validation accuracy,
    with as many configurations for every method, on seeds that no table uses. Figures take the
    settings that a table's search chose, or else those of the recipe; they are written to figures/
    below the results.

    [bold]Examples[/bold]

      ppro reproduce homophilous --quick

      ppro reproduce depth --only cora --only l2b --steps 2 --steps 4

      ppro reproduce ablation sensitivity --only cora

      ppro reproduce planted personal --device cuda --jobs 4 --minutes 10

      ppro reproduce table1 --space paper --only cora

      ppro reproduce all --render-only --page docs/results.md
    """
    from ppro.compute.device import find_device
    from ppro.paper.experiment import QUICK, Plan
    from ppro.search.offers import check_space

    wanted = _wanted(names)
    if not wanted:
        return
    space = check_space(space)
    parts = ["results", *(["quick"] if quick else []), *([space] if space else [])]
    root = results or Path("-".join(parts))
    root.mkdir(parents=True, exist_ok=True)
    plan = Plan(
        root,
        runs=2 if quick else runs,
        configurations=0 if quick else configurations,
        device=str(find_device(device)),
        data_root=data_root,
        offline=offline,
        threads=max(1, (os.cpu_count() or 1) // jobs) if jobs > 1 else None,
        changes=QUICK if quick else {},
        space=space,
    )
    if not render_only:
        until = None if minutes is None else time.monotonic() + 60 * minutes
        _run_missing(wanted, plan, (*_chosen_words(only), set(steps or [])), jobs, until)
    texts = _rendered(wanted, plan)
    if page is not None:
        _write_pages(page, texts, plan, everything="all" in names)


def _wanted(names: list[str]) -> tuple[str, ...]:
    """Return what to reproduce, each once; nothing where the names are only to be listed."""
    by_kind = names_of_results()
    known = tuple(name for found in by_kind.values() for name in found)
    if names == [LIST]:
        console.out.print(console.fields([(kind, ", ".join(v)) for kind, v in by_kind.items()]))
        return ()
    names = [BY_NUMBER.get(name, name) for name in names]
    for name in names:
        if name not in (*known, "all"):
            hint = nearest(name, (*known, "all", LIST))
            raise SettingsError(f"nothing to reproduce called '{name}'; {hint}")
    return known if "all" in names else tuple(dict.fromkeys(names))


def _run_missing(
    wanted: Sequence[str], plan: Plan, words: Words, jobs: int, until: float | None
) -> None:
    """Run all that has no result yet."""
    from ppro.paper import pool
    from ppro.paper.sections import stages, works_of

    try:
        for sections in stages(wanted):
            ask = partial(works_of, sections, plan, words)
            todo = pool.missing(ask(), plan.store)
            if todo:
                names, number = [s.name for s in sections], console.count(len(todo), "experiment")
                title = f"{', '.join(names)}: {number} to run"
                with console.task_progress(title, len(todo)) as on_done:
                    pool.run_missing(ask, plan, jobs, on_done, until)
    except pool.OutOfTimeError:
        console.err.print(f"time is over: what is done is kept in {plan.root}, and rendered")
    except KeyboardInterrupt:
        kept = f"interrupted: what was finished is kept in {plan.root}; the same command goes on"
        console.err.print(kept)
        raise typer.Exit(console.INTERRUPTED) from None


def _chosen_words(only: Sequence[str] | None) -> tuple[set[str], set[str], set[str]]:
    """Return the datasets, splits and methods that the user named."""
    from ppro.paper.untuned import WAYS
    from ppro.search.methods import method_names

    words, methods = set(only or []), {*method_names(), *(way.key for way in WAYS)}
    splits = {*SPLITS, *(split for info in DATASETS.values() for split in info.splits)}
    valid = {*DATASETS, *methods, *splits}
    for word in sorted(words - valid):
        raise SettingsError(f"--only {word}: unknown; {nearest(word, tuple(valid))}")
    return words & set(DATASETS), words & splits, words & methods


def _rendered(wanted: Sequence[str], plan: Plan) -> dict[str, str]:
    """Return the texts of sections, shown, and written beside the results."""
    from ppro.paper.sections import SECTIONS

    texts = {}
    for name in wanted:
        texts[name] = SECTIONS[name].text(plan.store)
        for place, text in SECTIONS[name].files(texts[name], plan.store).items():
            console.write(plan.root / place, text, "--results")
        console.out.print(texts[name], markup=False, highlight=False, soft_wrap=True)
    return texts


def _write_pages(page: Path, texts: Mapping[str, str], plan: Plan, *, everything: bool) -> None:
    """Write the page that the user named, and those beside it."""
    from ppro.paper.figures import FIGURES
    from ppro.paper.figures.render import copy_picture
    from ppro.paper.pages import pages

    for name in texts:
        if name in FIGURES:
            copy_picture(FIGURES[name], plan.store, page)
    for name, text in pages(texts, plan.store, everything=everything).items():
        console.write(page.parent / (name or page.name), text, "--page")
