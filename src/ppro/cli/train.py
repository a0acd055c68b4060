"""``ppro train``: train a batch of runs, show what came out, save it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console

from ppro.baselines import BASELINES
from ppro.cli import console
from ppro.cli.options import (
    DataRoot,
    Device,
    GraphOptions,
    Offline,
    Threads,
    find_device,
    graph_options,
)
from ppro.config import Recipe, Settings, assignments
from ppro.data import dataset_info, default_split, load_graph, make_splits
from ppro.errors import SettingsError
from ppro.fitting import fit
from ppro.graph import Graph
from ppro.recipes import find_recipe, recipe_names, shipped_recipe
from ppro.runfolder import (
    RunConfig,
    check_writable,
    dump_json,
    free_name,
    is_taken,
    run_settings,
    summary,
    write_run,
)
from ppro.strategies import Strategy

MAX_BAR = 40
INTERRUPTED = 130


def train(  # noqa: PLR0913 - one argument per option
    dataset: Annotated[str, typer.Argument(help="A graph of the catalogue: see 'ppro data list'.")],
    model: Annotated[
        str | None,
        typer.Option(help=f"ppro, or a rival: {', '.join(BASELINES)}.", show_default="ppro"),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(help="l2b, l2u, or none for the bare backbone.", show_default="l2b"),
    ] = None,
    backbone: Annotated[
        str | None, typer.Option(help="appnp, gat, gcn, gcnii or sgc.", show_default="appnp")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="public, random-60-20-20 or geom-gcn-48-32-20.", show_default="the recipe's"
        ),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs, trained together.")] = 10,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Run r has seed + r.", show_default="the recipe's, mostly 0"),
    ] = None,
    device: Device = "auto",
    recipe: Annotated[
        str | None,
        typer.Option(
            help="A TOML file, or a name of 'ppro recipes list'.",
            show_default="the one for dataset and strategy",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Change a setting of 'ppro recipes show': key=value. Repeat for more."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder to write the run to.",
            show_default="a new one below runs/",
            readable=False,
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="End with one JSON object on stdout.")
    ] = False,
    option: GraphOptions = None,
    data_root: DataRoot = None,
    offline: Offline = False,
    threads: Threads = None,
) -> None:
    """Train PPro on a graph: accuracy over several runs, steps and priorities of the nodes.

    [bold]Examples[/bold]

      ppro train cora

      ppro train texas --strategy l2u --split geom-gcn-48-32-20

      ppro train csbm --option homophily=0.2

      ppro train pubmed --set epsilon=0.7 --set max_steps=16 --runs 3 --json
    """
    chosen = choose_recipe(
        dataset,
        recipe,
        split=split,
        options={"model": model, "strategy": strategy, "backbone": backbone, "seed": seed},
        changes=assignments(set_ or []),
    )
    config = RunConfig(
        dataset=dataset,
        split=chosen.split,
        runs=runs,
        options=graph_options(option),
        settings=chosen.settings,
        paper=chosen.paper,
    )
    settings, place = run_settings(config), find_device(device)
    out = out or free_name(Path("runs"), f"{dataset}-{_short(chosen.settings)}")
    check_writable(out)
    graph = load_graph(dataset, data_root=data_root, offline=offline, options=config.options)
    splits = make_splits(
        graph,
        dataset,
        config.split,
        runs,
        config.settings.seed,
        data_root=data_root,
        offline=offline,
    )
    notes = _notes(dataset, chosen.note)
    console.err.print(_headline(config, graph, notes))
    with console.training_progress(config.settings.epochs) as progress:
        result = fit(graph, splits, settings, device=place, threads=threads, on_epoch=progress)
    if is_taken(out):
        out = free_name(out.parent, out.name)
    facts = summary(config, result, out, str(place), notes)
    write_run(out, config, graph, splits, result, facts)
    show(facts, config, console.err if json else console.out)
    if json:
        print(dump_json(facts))
    if facts["interrupted"]:
        console.err.print("interrupted: saved the best state of each run so far", style="yellow")
        raise typer.Exit(INTERRUPTED)


def choose_recipe(
    dataset: str,
    recipe: str | None,
    *,
    split: str | None,
    options: Mapping[str, Any],
    changes: Mapping[str, Any],
) -> Recipe:
    """The recipe of a training: the named one, else the shipped one, else the defaults.

    Args:
        options: settings that have an option of their own; None where it was not given.
        changes: those of ``--set``.
    """
    dataset_info(dataset)
    wanted = _merged(options, changes)
    if wanted.get("model", "ppro") != "ppro":
        _refuse_parts_of_ppro(wanted)
        wanted = {**wanted, "strategy": "none"}
    base = _base_recipe(dataset, wanted.get("strategy"), recipe)
    if split is None:
        split = base.split if base.dataset == dataset else default_split(dataset)
    if split not in dataset_info(dataset).splits:
        has = ", ".join(dataset_info(dataset).splits)
        raise SettingsError(f"{dataset} has no split {split!r}; it has {has}")
    settings = base.settings.replace(**wanted)
    changed = base.model_copy(update={"dataset": dataset, "split": split, "settings": settings})
    foreign = {} if _paper_identity(changed) == _paper_identity(base) else {"paper": None}
    note = base.note if dataset == base.dataset else ""
    return changed.model_copy(update={"note": note, **foreign})


def _merged(options: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: value for key, value in options.items() if value is not None}
    for key in given.keys() & changes.keys():
        if given[key] != changes[key]:
            raise SettingsError(
                f"--{key} {given[key]} and --set {key}={changes[key]} disagree; give one of them"
            )
    return {**given, **changes}


def _refuse_parts_of_ppro(wanted: Mapping[str, Any]) -> None:
    """A rival has no strategy and no backbone to choose."""
    for key, of_rivals in (("strategy", "none"), ("backbone", None)):
        if wanted.get(key, of_rivals) != of_rivals:
            raise SettingsError(f"model {wanted['model']} takes no {key}; leave one of them out")


def _base_recipe(dataset: str, strategy: Any, recipe: str | None) -> Recipe:
    if recipe is not None:
        return find_recipe(recipe)
    if strategy not in (None, *get_args(Strategy)):
        raise SettingsError(f"strategy {strategy}: unknown; use l2b, l2u or none")
    name = f"{dataset}-{strategy or 'l2b'}"
    if name in recipe_names():
        return shipped_recipe(name)
    return Recipe(dataset=dataset, split=default_split(dataset), settings=Settings())


def _paper_identity(recipe: Recipe) -> tuple[str, ...]:
    """What the paper's number belongs to."""
    settings = recipe.settings
    return recipe.dataset, recipe.split, settings.model, settings.strategy, settings.backbone


def _notes(dataset: str, note: str) -> list[str]:
    """What a reader of the result should know; Cornell never goes without its warning."""
    # The recipes that ship for cornell-legacy say it in their own note.
    told = not dataset.startswith("cornell") or "Texas" in note
    return [text for text in ("" if told else console.CORNELL, note) if text]


def _headline(config: RunConfig, graph: Graph, notes: Sequence[str]) -> str:
    settings = config.settings
    size = f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges"
    work = f"{_count(config.runs, 'run')} from seed {settings.seed}"
    lines = (
        f"{config.dataset}: {size}, split {config.split}",
        f"training {_what(settings)}: {work}, at most {_count(settings.epochs, 'epoch')}",
        *notes,
    )
    return "\n".join(map(console.paragraph, lines))


def _short(settings: Settings) -> str:
    return settings.strategy if settings.model == "ppro" else settings.model


def _what(settings: Settings) -> str:
    if settings.model != "ppro":
        return settings.model
    return f"{settings.strategy} on {settings.backbone}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def show(facts: dict[str, Any], config: RunConfig, where: Console) -> None:
    """Print the result of a training for a reader."""
    runs, epochs = _count(facts["runs"], "run"), _count(facts["epochs"], "epoch")
    rows = [
        ("test accuracy", _spread(facts, "test")),
        ("validation accuracy", _spread(facts, "val")),
        ("the paper", _paper(facts, config)),
        ("trained", f"{runs}, {epochs}, {facts['seconds']:.1f} s"),
        ("saved in", facts["out"]),
    ]
    where.print()
    where.print("steps that the nodes chose (share of all nodes, all runs)")
    where.print(histogram(facts["steps"], "█▏" if where.encoding.startswith("utf") else "#."))
    where.print()
    where.print(console.aligned(rows))


def _spread(facts: dict[str, Any], part: str) -> str:
    mean, std = facts[f"{part}_mean"], facts[f"{part}_std"]
    return f"{mean:.2f} %" if facts["runs"] == 1 else f"{mean:.2f} ± {std:.2f} %"


def _paper(facts: dict[str, Any], config: RunConfig) -> str:
    if config.paper is None:
        return "no number for this dataset, split and strategy"
    spread = "" if config.paper.std is None else f" ± {config.paper.std}"
    difference = facts["test_mean"] - config.paper.accuracy
    return f"{config.paper.accuracy}{spread} % ({config.paper.table}); ours {difference:+.2f}"


def histogram(shares: Sequence[float], ink: str = "█▏") -> str:
    """Bars for the share of nodes at each step; steps that no node chose are left out.

    Args:
        ink: what a bar is drawn with, and the trace of a share too small for a bar.
    """
    peak = max(shares)
    lines: list[str] = []
    before = None
    for k, share in enumerate(shares):
        if share == 0:
            continue
        if before is not None and k > before + 1:
            lines.append("  ...")
        bar = ink[0] * round(MAX_BAR * share / peak) or ink[1]
        lines.append(f"  {k:>3}  {100 * share:5.1f} %  {bar}")
        before = k
    return "\n".join(lines)
