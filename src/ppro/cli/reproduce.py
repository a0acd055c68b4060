"""``ppro reproduce``: the paper's tables and figures, run where they are missing and rendered."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ppro.cli import console
from ppro.cli.options import DataRoot, Device, Offline
from ppro.errors import SettingsError
from ppro.parts import nearest
from ppro.settings.limits import CONFIGURATIONS

if TYPE_CHECKING:
    from ppro.paper.store import Store
    from ppro.paper.tables import Table
    from ppro.paper.tasks import Plan

DATASETS = "datasets"
LIST = "list"


def names_of_results() -> dict[str, tuple[str, ...]]:
    """Return what can be reproduced, by kind."""
    from ppro.paper.figures import FIGURES
    from ppro.paper.tables import TABLES

    return {"tables": (*TABLES, *_of_recipes(), DATASETS), "figures": tuple(FIGURES)}


def _of_recipes() -> dict[str, Callable[[Store], str]]:
    """Return how the tables about recipes are rendered, by name."""
    from ppro.paper import added, rounds_table, shipped
    from ppro.paper.automatic import ON_CPU, ON_GPU
    from ppro.paper.finals import FINALS
    from ppro.paper.playoffs import PLAYOFFS

    return {
        FINALS.key: FINALS.markdown,
        PLAYOFFS.key: PLAYOFFS.markdown,
        "shipped": shipped.markdown,
        "rounds": rounds_table.markdown,
        "added": added.markdown,
        ON_CPU.key: ON_CPU.markdown,
        ON_GPU.key: ON_GPU.markdown,
    }


def reproduce(  # noqa: PLR0913 - one argument per option
    names: Annotated[
        list[str],
        typer.Argument(
            help="Tables and figures by name, run in their order; all; or list, which names them.",
            metavar="NAME…",
        ),
    ],
    runs: Annotated[int, typer.Option(min=1, help="Runs of every cell.")] = 10,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only this dataset, split or method. Repeat for more."),
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
    jobs: Annotated[int, typer.Option(min=1, help="Tasks side by side, each a process.")] = 1,
    results: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the result files.",
            show_default="results, or results-quick with --quick",
            readable=False,
        ),
    ] = None,
    render_only: Annotated[
        bool, typer.Option("--render-only", help="Run nothing; render what is there.")
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Write all that is rendered as one Markdown page; pictures go to figures/ "
            "beside it.",
            readable=False,
        ),
    ] = None,
    data_root: DataRoot = None,
    offline: Offline = False,
) -> None:
    """Reproduce a table or a figure of the paper: search settings, run what is missing, render it.

    Every search and every cell leaves a file as soon as it is done; after a stop the same command
    goes on where it was. Settings are chosen on validation accuracy, with as many configurations
    for every method, on seeds that no table uses. Figures take the settings that a table's search
    chose, or else those of the recipe; they are written to figures/ below the results.

    [bold]Examples[/bold]

      ppro reproduce homophilous --quick

      ppro reproduce depth --only cora --only l2b --device cuda

      ppro reproduce ablation sensitivity --only cora

      ppro reproduce all --render-only --page docs/results.md
    """
    from ppro.cli.missing_results import chosen_words, run_missing
    from ppro.compute.device import find_device
    from ppro.paper.figures import FIGURES
    from ppro.paper.figures.render import copy_picture, render
    from ppro.paper.render import LEGEND
    from ppro.paper.tables import TABLES
    from ppro.paper.tasks import QUICK, Plan

    wanted = _wanted(names)
    if not wanted:
        return
    root = results or Path("results-quick" if quick else "results")
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
    )
    if not render_only:
        run_missing(wanted, plan, chosen_words(only), jobs)
    figures = [FIGURES[key] for key in wanted if key in FIGURES]
    texts = [_rendered(TABLES[key](), plan) for key in wanted if key in TABLES]
    texts += [_kept(plan, k, text(plan.store)) for k, text in _of_recipes().items() if k in wanted]
    if DATASETS in wanted:
        texts.append(_datasets(plan, measured=not render_only))
    texts += [render(figure, plan.store) for figure in figures]
    for text in texts:
        console.out.print(text, markup=False, highlight=False, soft_wrap=True)
    if page is not None:
        for figure in figures:
            copy_picture(figure, plan.store, page)
        console.write(page, "# Results\n\n" + LEGEND + "\n\n" + "\n".join(texts), "--page")


def _wanted(names: list[str]) -> tuple[str, ...]:
    """Return what to reproduce, each once; nothing where the names are only to be listed."""
    by_kind = names_of_results()
    known = tuple(name for found in by_kind.values() for name in found)
    if names == [LIST]:
        console.out.print(console.fields([(kind, ", ".join(v)) for kind, v in by_kind.items()]))
        return ()
    for name in names:
        if name not in (*known, "all"):
            hint = nearest(name, (*known, "all", LIST))
            raise SettingsError(f"nothing to reproduce called '{name}'; {hint}")
    return known if "all" in names else tuple(dict.fromkeys(names))


def _rendered(table: Table, plan: Plan) -> str:
    from ppro.paper.render import latex, markdown

    console.write(plan.root / "tables" / f"{table.name}.tex", latex(table, plan.store), "--results")
    return _kept(plan, table.name, markdown(table, plan.store))


def _kept(plan: Plan, name: str, text: str) -> str:
    """Return the text of a table, also written beside the results."""
    console.write(plan.root / "tables" / f"{name}.md", text, "--results")
    return text


def _datasets(plan: Plan, *, measured: bool) -> str:
    from ppro.paper import datasets as dataset_table

    path = plan.root / "datasets.json"
    if measured or not path.exists():
        names = dataset_table.PAPERS
        found = dataset_table.measure(names, data_root=plan.data_root, offline=plan.offline)
        plan.store.write(path, found)
    record = plan.store.read(path)
    assert record is not None
    return _kept(plan, DATASETS, dataset_table.markdown(record))
