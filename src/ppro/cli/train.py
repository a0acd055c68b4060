"""``ppro train``: train a batch of runs, show what came out, save it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from torch import Tensor

from ppro.cli import console
from ppro.cli.automatic import automatic
from ppro.cli.file_options import Edges, Nodes, file_source, takes_columns
from ppro.cli.options import (
    DataRoot,
    Device,
    GraphOptions,
    Offline,
    Threads,
    find_device,
    graph_options,
)
from ppro.cli.outcome import count, show
from ppro.cli.ranks import (
    Partition,
    device_here,
    follow,
    is_follower,
    is_one_of_several,
    lead,
    ranks_of_job,
)
from ppro.cli.recipe_choice import AUTO, choose_recipe, given_settings
from ppro.cli.resuming import Place, place_of_training
from ppro.cli.tracking_options import LiveMetrics, MLflowUri, TensorBoardFolder, tracked
from ppro.data import Splits, load_graph, make_splits
from ppro.data.files import Layout, Reading, file_splits, read_source
from ppro.errors import SettingsError
from ppro.files import dump_json
from ppro.graph.core import Graph
from ppro.insight.tracking import Tracker, finish, listener
from ppro.parts import RIVALS
from ppro.runs.runfolder import RunConfig, run_settings, summary, write_run
from ppro.search.auto import BUDGET
from ppro.settings.settings import Settings, assignments
from ppro.training.checkpoint import EVERY, Checkpointing
from ppro.training.fit import Fit, fit

INTERRUPTED = 130
STOPPED = (
    "interrupted: saved the best state of each run so far; "
    "the same command with --resume goes on from here"
)


@takes_columns
def train(  # noqa: PLR0913 - one argument per option
    dataset: Annotated[
        str | None,
        typer.Argument(
            help="A graph of 'ppro data list', a file (.npz, .graphml, .safetensors), or a folder "
            "of 'ppro data generate'.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help=f"ppro, or a rival: {', '.join(RIVALS)}.", show_default="ppro"),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(help="l2b, l2u, or none for the bare backbone.", show_default="l2b"),
    ] = None,
    backbone: Annotated[
        str | None, typer.Option(help="appnp, gat, gcn, gcnii, grand or sgc.", show_default="appnp")
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
            help="A TOML file, a name of 'ppro recipes list', or auto: a short search on the "
            "graph, its training and validation nodes.",
            show_default="the one for dataset and strategy",
        ),
    ] = None,
    budget: Annotated[
        float, typer.Option(min=1, help="Seconds that the search of --recipe auto may take.")
    ] = BUDGET,
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
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the same training, where it was stopped."),
    ] = False,
    checkpoint_every: Annotated[
        float, typer.Option(min=0, help="Seconds between two checkpoints, at least.")
    ] = EVERY,
    tensorboard: TensorBoardFolder = None,
    mlflow: MLflowUri = None,
    live: LiveMetrics = None,
    json: Annotated[
        bool, typer.Option("--json", help="End with one JSON object on stdout.")
    ] = False,
    option: GraphOptions = None,
    data_root: DataRoot = None,
    offline: Offline = False,
    threads: Threads = None,
    partition: Partition = "metis",
    nodes: Nodes = None,
    edges: Edges = None,
    *,
    layout: Layout,
) -> None:
    """Train PPro on a graph: accuracy over several runs, steps and priorities of the nodes.

    [bold]Examples[/bold]

      ppro train cora

      ppro train texas --strategy l2u --split geom-gcn-48-32-20

      ppro train csbm --option homophily=0.2

      ppro train pubmed --set epsilon=0.7 --set max_steps=16 --runs 3 --json

      ppro train --nodes nodes.csv --edges edges.csv --label topic
    """
    files = file_source(dataset, nodes, edges, layout)
    reading = None if files is None else read_source(files)
    name = str(dataset) if reading is None else reading.graph.name
    options = {"model": model, "strategy": strategy, "backbone": backbone, "seed": seed}
    changes = assignments(set_ or [])
    chosen = choose_recipe(name, recipe, split=split, options=options, changes=changes, own=reading)
    config = RunConfig(
        dataset=name,
        split=chosen.split,
        runs=runs,
        options=graph_options(option),
        settings=chosen.settings,
        paper=chosen.paper,
        source=None if files is None else files.signed(),
    )
    chip = device_here(find_device(device))
    if recipe == AUTO:
        if is_one_of_several():
            raise SettingsError("--recipe auto: searches on one process; leave torchrun out")
        if resume:
            raise SettingsError("--resume: auto would choose again; name the recipe that it kept")
        whole = graph_and_splits(config, reading, data_root=data_root, offline=offline)
        given = given_settings(options, changes)
        limits: Any = {"budget": budget, "device": chip, "threads": threads}
        chosen = automatic(chosen, *whole, given, **limits)
        config = config.model_copy(update={"settings": chosen.settings})
    if is_follower():
        follow(
            config,
            lambda: graph_and_splits(config, reading, data_root=data_root, offline=offline),
            **{"device": chip, "threads": threads, "partition": partition},
        )
        return
    usual = Path("runs") / f"{name}-{_short(chosen.settings)}"
    with (
        ranks_of_job() as ranks,
        place_of_training(out, usual, config, resume=resume) as place,
        tracked(config, place.out.name, tensorboard, mlflow, live) as trackers,
    ):
        graph, splits = graph_and_splits(config, reading, data_root=data_root, offline=offline)
        notes = _notes(name, chosen.note) if reading is None else list(reading.notes)
        console.err.print(_headline(config, graph, [*notes, place.note]))
        plan = Checkpointing(place.checkpoint, checkpoint_every, resume)
        speed: Any = {"device": chip, "threads": threads}
        shared = fit if ranks is None else partial(lead, ranks, partition=partition)
        result = _fitted(shared, graph, splits, config, place, plan, trackers, **speed)
        facts = summary(config, result, place.free_out(), str(chip), notes)
        schema = None if reading is None else reading.schema
        write_run(Path(facts["out"]), config, graph, splits, result, facts, schema=schema)
        if not result.history.interrupted:
            place.forget()
        finish(trackers, _warn, result.history, facts, Path(facts["out"]))
    show(facts, config, console.err if json else console.out)
    if json:
        print(dump_json(facts))
    if facts["interrupted"]:
        console.err.print(STOPPED, style="yellow")
        raise typer.Exit(INTERRUPTED)


def _fitted(
    train_runs: Callable[..., Fit],
    graph: Graph,
    splits: Splits,
    config: RunConfig,
    place: Place,
    plan: Checkpointing,
    trackers: Sequence[Tracker],
    **options: Any,
) -> Fit:
    """Train the runs, showing how it goes."""
    with console.training_progress(config.settings.training.epochs) as progress:
        listen = listener(trackers, _warn, progress)

        def on_epoch(done: int, metrics: Tensor, going: int) -> None:
            place.begun = True
            listen(done, metrics, going)

        settings = run_settings(config)
        watched = {"on_epoch": on_epoch, "checkpoint": plan}
        return train_runs(graph, splits, settings, **watched, **options)


def _warn(text: str) -> None:
    console.err.print(text, style="yellow")


def graph_and_splits(
    config: RunConfig, reading: Reading | None, *, data_root: Path | None, offline: bool
) -> tuple[Graph, Splits]:
    """The graph of a run and the masks of its runs, from files or from the catalogue.

    Args:
        reading: what the files of the run hold; None for a graph of the catalogue.
    """
    seed = config.settings.seed
    if reading is not None:
        return reading.graph, file_splits(reading, config.split, config.runs, seed)
    where: Any = {"data_root": data_root, "offline": offline}
    graph = load_graph(config.dataset, options=config.options, **where)
    return graph, make_splits(graph, config.dataset, config.split, config.runs, seed, **where)


def _notes(dataset: str, note: str) -> list[str]:
    """What a reader of the result should know; Cornell never goes without its warning."""
    # The recipes that ship for cornell-legacy say it in their own note.
    told = not dataset.startswith("cornell") or "Texas" in note
    return [text for text in ("" if told else console.CORNELL, note) if text]


def _headline(config: RunConfig, graph: Graph, notes: Sequence[str]) -> str:
    settings = config.settings
    size = f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges"
    work = f"{count(config.runs, 'run')} from seed {settings.seed}"
    lines = (
        f"{config.dataset}: {size}, split {config.split}",
        f"training {_what(settings)}: {work}, at most {count(settings.training.epochs, 'epoch')}",
        *notes,
    )
    return "\n".join(console.paragraph(line) for line in lines if line)


def _short(settings: Settings) -> str:
    return settings.strategy if settings.model == "ppro" else settings.model


def _what(settings: Settings) -> str:
    if settings.model != "ppro":
        return settings.model
    return f"{settings.strategy} on {settings.backbone}"
