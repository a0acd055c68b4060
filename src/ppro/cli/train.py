"""``ppro train``: train a batch of runs, show what came out, save it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ppro.cli import console
from ppro.cli.afterwards import Afterwards
from ppro.cli.file_options import GivenGraph, check_not_read, takes_graph
from ppro.cli.method_options import GivenMethod, takes_method
from ppro.cli.options import Device, Json, Threads, shown
from ppro.cli.tracking_options import LiveMetrics, MLflowUri, TensorBoardFolder, tracked
from ppro.errors import RunError
from ppro.settings.limits import BUDGET, CHECKPOINT_EVERY, MOST_RUNS

if TYPE_CHECKING:
    from torch import Tensor

    from ppro.data.files import Reading
    from ppro.data.splits import Splits
    from ppro.graph.core import Graph
    from ppro.insight.tracking import Tracker
    from ppro.runs.config import RunConfig
    from ppro.runs.place import Place
    from ppro.runs.writing import TrainedRun
    from ppro.settings.recipe import Recipe
    from ppro.training.checkpoint import Checkpointing
    from ppro.training.fit import Fit

RUNS = Path("runs")
"""Where runs are written unless the user names a folder."""


@takes_graph
@takes_method
def train(  # noqa: PLR0913 - one argument per option
    runs: Annotated[int, typer.Option(min=1, max=MOST_RUNS, help="Runs, trained together.")] = 10,
    seed: Annotated[
        int | None,
        shown("Run r has seed + r.", "the recipe's, mostly 0", min=0),
    ] = None,
    device: Device = "auto",
    recipe: Annotated[
        str | None,
        shown(
            "A TOML file, a name of 'ppro recipes list', plain: one setting that is safe on any "
            "graph, or auto: a short search on its training and validation nodes.",
            "the graph's, or else auto",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        shown("Seconds for the search of --recipe auto and its training.", f"{BUDGET:g}", min=1),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Change a setting of 'ppro recipes show': key=value. Repeat for more."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        shown("Folder to write the run to.", "a new one below runs/", readable=False),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Also train the bare backbone at depths 0, 1, 2, 4 … on the same seeds, and print "
            "the paired difference from the best by validation.",
        ),
    ] = False,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit",
            help="Then train once more on all labels, validation and test too, for 'ppro predict "
            "--refit'.",
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the same training, where it was stopped."),
    ] = False,
    checkpoint_every: Annotated[
        float, typer.Option(min=0, help="Seconds between two checkpoints, at least.")
    ] = CHECKPOINT_EVERY,
    tensorboard: TensorBoardFolder = None,
    mlflow: MLflowUri = None,
    live: LiveMetrics = None,
    json: Json = False,
    threads: Threads = None,
    partition: Annotated[
        str,
        typer.Option(
            "--partition", help="With torchrun, how nodes are given to ranks: metis or contiguous."
        ),
    ] = "metis",
    *,
    method: GivenMethod,
    graph: GivenGraph,
) -> None:
    """Train PPro on a graph: accuracy over several runs, steps and priorities of the nodes.

    [bold]Examples[/bold]

      ppro train cora

      ppro train texas --strategy l2u --split geom-gcn-48-32-20

      ppro train csbm --option homophily=0.2 --compare

      ppro train pubmed --set epsilon=0.7 --set max_steps=16 --runs 3 --json

      ppro train --nodes nodes.csv --edges edges.csv --label topic

      ppro train --nodes nodes.csv --edges edges.csv --label fraud --metric average-precision
    """
    from ppro.cli.outcome import headline_of_training, show_training
    from ppro.cli.searching import SPLITS, FromSearch, asks_for_search, searched
    from ppro.compute.device import find_device
    from ppro.files import dump_json
    from ppro.insight.tracking import finish
    from ppro.runs import torchrun
    from ppro.runs.config import RunConfig, run_settings
    from ppro.runs.place import check_free, place_of_training
    from ppro.runs.source import graph_and_splits
    from ppro.runs.writing import TrainedRun
    from ppro.search.auto_final import fit_until
    from ppro.search.choice import PLAIN, choose_recipe, given_settings, plain_recipe
    from ppro.settings.settings import assignments
    from ppro.training import fit as fitting
    from ppro.training.checkpoint import Checkpointing

    check_not_read("--live", live, [graph.files])
    name, reading = graph.name, graph.reading
    options = {**method.options, "seed": seed}
    changes = assignments(set_ or [])
    wanted: Any = {"split": method.split, "options": options, "changes": changes, "own": reading}
    wanted |= {"comparing": not torchrun.is_one_of_several()}
    chosen = choose_recipe(name, recipe, **wanted)
    config = RunConfig(
        dataset=name,
        split=chosen.split,
        runs=runs,
        options=graph.options,
        settings=chosen.settings,
        paper=None if graph.options else chosen.paper,
        source=None if graph.files is None else graph.files.signed(),
    )

    given = given_settings(options, changes)
    search = not compare and asks_for_search(recipe, config, given, reading, resume=resume)
    if budget is not None and not search:
        console.warn(f"--budget {budget:g} has no effect: nothing is searched here")
    wide = config.model_copy(update={"runs": max(runs, SPLITS)}) if search else config

    @cache
    def load() -> tuple[Graph, Splits]:
        return graph_and_splits(wide, reading, **graph.where)

    afterwards = Afterwards(compare, refit)
    afterwards.check(config.settings)
    chip = torchrun.device_here(find_device(device))
    speed: dict[str, Any] = {"device": chip, "threads": threads}
    found = FromSearch.none(chosen, runs)
    if search:
        check_free(out, RUNS, name)
        limits: Any = {"runs": runs, "budget": budget or BUDGET, "start": console.begun, **speed}
        found = searched(chosen, *load(), given, folder=RUNS, **limits)
    elif recipe == PLAIN:
        found = FromSearch.none(plain_recipe(chosen, load()[0], given), runs)
    chosen = found.recipe
    config = config.model_copy(update={"settings": chosen.settings, "runs": found.runs})
    if torchrun.is_follower():
        shared: Any = {**speed, "partition": partition}
        torchrun.follow(run_settings(config), load, **shared)
        return
    with (
        torchrun.ranks_of_job() as ranks,
        place_of_training(out, RUNS, config, resume=resume) as place,
        tracked(config, place.out.name, tensorboard, mlflow, live) as trackers,
    ):
        loaded, splits = load()
        splits = splits.first(config.runs)
        afterwards.check(config.settings, splits)
        known = _notes(chosen, reading, loaded, splits)
        notes = list(dict.fromkeys([*known, *found.notes]))
        console.err.print(headline_of_training(config, loaded, [*notes, place.note]))
        plan = Checkpointing(place.checkpoint, checkpoint_every, resume)
        alone: Any = fitting.fit
        do = alone if ranks is None else partial(torchrun.lead, ranks, partition=partition)
        do = do if found.until is None else partial(fit_until, do, found.until)
        result = _fitted(do, loaded, splits, config, place, plan, trackers, **speed)
        capped = found.notes_of(result)
        told: Any = {"device": str(chip), "notes": [*notes, *capped]}
        schema = None if reading is None else reading.schema
        trained = TrainedRun.of(config, loaded, splits, result, schema=schema, **told)
        trained.facts.update(found.facts)
        facts = _written(place, trained, config)
        if not result.history.interrupted:
            place.forget()
            done = loaded, splits, result
            facts = afterwards.done(facts, config, *done, schema=schema, **speed)
        finish(trackers, console.warn, result.history, facts, Path(facts["out"]))
    show_training(facts, config, console.err if json else console.out)
    if json:
        print(dump_json(facts))
    if undone := afterwards.missing(facts):
        console.warn(undone if not found.again else f"{undone}, and with {found.again}")
        raise typer.Exit(console.INTERRUPTED)


def _fitted(
    train_runs: Callable[..., Fit],
    graph: Graph,
    splits: Splits,
    config: RunConfig,
    place: Place,
    plan: Checkpointing,
    trackers: list[Tracker],
    **options: Any,
) -> Fit:
    """Train the runs, showing how it goes."""
    from ppro.insight.tracking import listener
    from ppro.runs.config import run_settings

    with console.training_progress(config.settings.training.epochs) as progress:
        listen = listener(trackers, console.warn, progress)

        def on_epoch(done: int, metrics: Tensor, going: int) -> None:
            place.begun = True
            listen(done, metrics, going)

        watched = {"on_epoch": on_epoch, "checkpoint": plan}
        return train_runs(graph, splits, run_settings(config), **watched, **options)


def _written(place: Place, trained: TrainedRun, config: RunConfig) -> dict[str, Any]:
    """Write the run folder; what cannot be written is at least shown."""
    from ppro.cli.outcome import show_training
    from ppro.runs.writing import write_run

    try:
        facts = write_run(place.free_out(), trained, interim=trained.history.interrupted)
    except RunError:
        show_training({**trained.facts, "out": "(nowhere)"}, config, console.err)
        raise
    console.note_saved()
    return facts


def _notes(recipe: Recipe, reading: Reading | None, graph: Graph, splits: Splits) -> list[str]:
    """Return what a reader of the result should know of the data or the recipe."""
    from ppro.data import dataset_info
    from ppro.runs.cautions import cautions, without_effect

    if reading is None:
        notes = (dataset_info(recipe.dataset).note, recipe.note, without_effect(recipe.settings))
        return [note for note in notes if note]
    told = [recipe.note] if recipe.note else []
    return [*reading.notes, *told, *cautions(graph, splits, recipe.settings)]
