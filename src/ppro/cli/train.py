"""``ppro train``: train a batch of runs, show what came out, save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ppro.cli import console
from ppro.cli.options import DataRoot, Device, Offline, Threads, find_device
from ppro.config import Recipe, Settings, assignments
from ppro.data import default_split, load_graph, make_splits
from ppro.data.catalog import dataset_info
from ppro.errors import SettingsError
from ppro.fitting import fit
from ppro.recipes import find_recipe, recipe_names, shipped_recipe
from ppro.runfolder import (
    RunConfig,
    check_writable,
    dump_json,
    free_name,
    run_settings,
    summary,
    write_run,
)

MAX_BAR = 40
INTERRUPTED = 130


def train(  # noqa: PLR0913 - one argument per option
    dataset: Annotated[str, typer.Argument(help="A graph of the catalogue: see 'ppro data list'.")],
    strategy: Annotated[
        str | None,
        typer.Option(help="l2b, l2u, or none for the bare backbone.", show_default="l2b"),
    ] = None,
    backbone: Annotated[
        str | None, typer.Option(help="The graph neural network.", show_default="appnp")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="public, random-60-20-20 or geom-gcn-48-32-20.", show_default="the recipe's"
        ),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs, trained together.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Run r has seed + r.")] = 0,
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
        typer.Option("--set", help="Change a setting: key=value. Repeat for more."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write the run to.", show_default="a new one below runs/"),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="End with one JSON object on stdout.")
    ] = False,
    data_root: DataRoot = None,
    offline: Offline = False,
    threads: Threads = None,
) -> None:
    """Train PPro on a graph: accuracy over several runs, steps and priorities of the nodes.

    [bold]Examples[/bold]

      ppro train cora

      ppro train texas --strategy l2u --split geom-gcn-48-32-20

      ppro train pubmed --set epsilon=0.7 --set max_steps=16 --runs 3 --json
    """
    dataset_info(dataset)
    chosen = choose_recipe(dataset, strategy, backbone, recipe, set_ or [], seed)
    config = RunConfig(
        dataset=dataset,
        split=split or chosen.split,
        runs=runs,
        settings=chosen.settings,
        paper=chosen.paper,
    )
    place = find_device(device)
    out = out or free_name(Path("runs"), f"{dataset}-{chosen.settings.strategy}")
    check_writable(out)
    graph = load_graph(dataset, data_root=data_root, offline=offline)
    splits = make_splits(
        graph, dataset, config.split, runs, seed, data_root=data_root, offline=offline
    )
    console.err.print(_headline(config, graph.num_nodes, graph.num_edges, chosen.note))
    with console.training_progress(config.settings.epochs, config.settings.patience) as progress:
        result = fit(
            graph, splits, run_settings(config), device=place, threads=threads, on_epoch=progress
        )
    facts = summary(config, result, out, str(place))
    write_run(out, config, graph, splits, result, facts)
    show(facts, config, console.err if json else console.out)
    if json:
        print(dump_json(facts))
    if facts["interrupted"]:
        raise typer.Exit(INTERRUPTED)


def choose_recipe(
    dataset: str,
    strategy: str | None,
    backbone: str | None,
    recipe: str | None,
    changes: list[str],
    seed: int,
) -> Recipe:
    """The recipe of a training: the named one, else the shipped one, else the defaults."""
    base = _base_recipe(dataset, strategy, recipe)
    wanted: dict[str, Any] = {"seed": seed}
    if strategy is not None:
        wanted["strategy"] = strategy
        if strategy != base.settings.strategy:
            wanted["propagation_bias"] = None
    if backbone is not None:
        wanted["backbone"] = backbone
    settings = base.settings.replace(**wanted, **assignments(changes))
    same = dataset == base.dataset and settings.strategy == base.settings.strategy
    return base.model_copy(
        update={"settings": settings, "paper": base.paper if same else None, "dataset": dataset}
    )


def _base_recipe(dataset: str, strategy: str | None, recipe: str | None) -> Recipe:
    if recipe is not None:
        return find_recipe(recipe)
    name = f"{dataset}-{strategy or 'l2b'}"
    if name in recipe_names():
        return shipped_recipe(name)
    if strategy not in (None, "l2b", "l2u", "none"):
        raise SettingsError(f"--strategy {strategy}: unknown; use l2b, l2u or none")
    return Recipe(dataset=dataset, split=default_split(dataset), settings=Settings())


def _headline(config: RunConfig, nodes: int, edges: int, note: str) -> str:
    title = dataset_info(config.dataset).title
    text = (
        f"{title}: {nodes:,} nodes, {edges:,} edges; {config.settings.strategy} on "
        f"{config.settings.backbone}, split {config.split}, {config.runs} runs"
    )
    defects = dataset_info(config.dataset).known_defects
    if config.dataset.startswith("cornell") and not note:
        note = defects[0] if defects else ""
    return f"{text}\n[dim]{note}[/dim]" if note else text


def show(facts: dict[str, Any], config: RunConfig, where: Any) -> None:
    """Print the result of a training for a reader."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    runs = f"{facts['runs']} runs, split {facts['split']}, seed {facts['seed']}"
    table.add_row("test accuracy", _spread(facts, "test"), runs)
    table.add_row("validation accuracy", _spread(facts, "val"))
    table.add_row("the paper", _paper(facts, config), config.paper.table if config.paper else "")
    table.add_row("training", f"{facts['seconds']:.1f} s", f"{facts['epochs']} epochs in all runs")
    table.add_row("saved in", facts["out"])
    where.print()
    where.print("steps that the nodes chose (share of all nodes, all runs)")
    where.print(histogram(facts["steps"]))
    where.print()
    where.print(table)
    if facts["interrupted"]:
        where.print("[yellow]interrupted: these are the best states so far[/yellow]")


def _spread(facts: dict[str, Any], part: str) -> str:
    return f"{facts[f'{part}_mean']:.2f} ± {facts[f'{part}_std']:.2f} %"


def _paper(facts: dict[str, Any], config: RunConfig) -> str:
    if config.paper is None:
        return "no number for this"
    spread = "" if config.paper.std is None else f" ± {config.paper.std}"
    difference = facts["test_mean"] - config.paper.accuracy
    return f"{config.paper.accuracy}{spread} % (ours {difference:+.2f})"


def histogram(shares: list[float]) -> str:
    """Bars for the share of nodes at each step; empty steps at both ends are left out."""
    used = [k for k, share in enumerate(shares) if share > 0]
    peak = max(shares)
    lines = []
    for k in range(used[0], used[-1] + 1):
        bar = "█" * round(MAX_BAR * shares[k] / peak)
        lines.append(f"  {k:>3}  {100 * shares[k]:5.1f} %  {bar}")
    return "\n".join(lines)
