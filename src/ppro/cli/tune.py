"""``ppro tune``: search settings on validation accuracy, alone or with other workers."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ppro.cli import console
from ppro.cli.file_options import Edges, Nodes, file_source, takes_columns
from ppro.cli.options import (
    DataRoot,
    Device,
    GraphOptions,
    Offline,
    find_device,
    graph_options,
)
from ppro.cli.recipe_choice import choose_recipe
from ppro.cli.tune_outcome import headline, show
from ppro.data import Splits, load_graph, make_splits
from ppro.data.files import Layout, Reading, file_splits, read_source
from ppro.data.names import RANDOM
from ppro.errors import RunError, SettingsError
from ppro.files import dump_json
from ppro.graph.core import Graph
from ppro.paper.search import FIRST_SEED
from ppro.parts import RIVALS
from ppro.settings.recipe import Recipe
from ppro.settings.settings import assignments

FOLDER = Path("tuning")
INTERRUPTED = 130
SAME_FOR_ALL, OF_ITS_OWN = 3, 5
"""Seeds of a configuration where all have one split, and where each has a split of its own."""


@takes_columns
def tune(  # noqa: PLR0913 - one argument per option
    dataset: Annotated[
        str | None,
        typer.Argument(
            help="A graph of 'ppro data list', or a file (.npz, .graphml, .safetensors).",
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
        str | None, typer.Option(help="appnp, gat, gcn or gcnii.", show_default="appnp")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="public, random-60-20-20 or geom-gcn-48-32-20.", show_default="the recipe's"
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=1, help="Configurations of the study in all, whoever trains them.")
    ] = 50,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds after which no further batch begins; the one under way is finished.",
            show_default="none",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Seeds of each configuration, from {FIRST_SEED}.",
            show_default=f"{SAME_FOR_ALL}, or {OF_ITS_OWN} on random splits",
        ),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(
            help="What is searched: homophilous or heterophilous, the method's own space for such "
            "graphs, or paper, the grid of the paper.",
            show_default="what suits the graph",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Fix a setting: key=value. It is not searched then."),
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="Name of the study.", show_default="graph and method")
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            help="Journal file, postgresql://user:password@host/database, or sqlite:///file.db.",
            show_default="tuning/STUDY.journal",
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Configurations trained together.",
            show_default="chosen from device and graph",
        ),
    ] = None,
    prune: Annotated[
        bool,
        typer.Option(help="Give configurations up whose first seed is in the lower half."),
    ] = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the proposals.")] = 0,
    device: Device = "auto",
    out: Annotated[
        Path | None,
        typer.Option(
            help="File for the best recipe.",
            show_default="tuning/STUDY/recipe.toml",
            readable=False,
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="End with one JSON object on stdout.")
    ] = False,
    option: GraphOptions = None,
    data_root: DataRoot = None,
    offline: Offline = False,
    nodes: Nodes = None,
    edges: Edges = None,
    *,
    layout: Layout,
) -> None:
    """Search settings: the best recipe by validation accuracy, as a file for 'ppro train'.

    Configurations are trained in batches, each batch as one program. After a stop the same command
    goes on; started several times, on one machine or many, it is several workers on one study.
    A worker that is killed loses only its batch: the next claim of any other queues it again.
    No test label is read.

    [bold]Examples[/bold]

      ppro tune cora --trials 100

      ppro tune texas --strategy l2u --space paper --timeout 600

      ppro tune cora --model gcn --storage postgresql://me@server/studies

      ppro tune --nodes nodes.csv --edges edges.csv --label topic --out best.toml
    """
    files = file_source(dataset, nodes, edges, layout)
    reading = None if files is None else read_source(files)
    name = str(dataset) if reading is None else reading.graph.name
    recipe = choose_recipe(
        name,
        None,
        split=split,
        options={"model": model, "strategy": strategy, "backbone": backbone},
        changes=assignments(set_ or []),
        own=reading,
    )
    study = study or _usual_name(recipe, space)
    _check_names(study, out)
    where: Any = {"data_root": data_root, "offline": offline}
    if reading is None:
        graph = load_graph(name, options=graph_options(option), **where)
    else:
        graph = reading.graph
    splits = _splits(graph, recipe, reading, seeds, where)
    with _optuna():
        from ppro.search.tuning.session import Session, Wishes
        from ppro.search.tuning.subject import Subject
    subject = Subject(graph, splits, recipe, assignments(set_ or []), own=reading is not None)
    wishes = Wishes(
        study=study,
        storage=storage or str(FOLDER / f"{study}.journal"),
        folder=FOLDER / study,
        out=out or FOLDER / study / "recipe.toml",
        trials=trials,
        space=space,
        timeout=timeout,
        batch=batch,
        prune=prune,
        seed=seed,
    )
    session = Session(subject, wishes, find_device(device))
    console.err.print(headline(session))
    ended = session.run(
        _tell, lambda: console.training_progress(session.evaluator.base.training.epochs)
    )
    best, facts, notes = session.leave()
    show(session, best, facts, notes, console.err if json else console.out)
    if json:
        print(dump_json(facts))
    if not ended:
        console.err.print("interrupted: the same command goes on from here", style="yellow")
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _optuna() -> Iterator[None]:
    """Say what to install where Optuna, or what we use with it, is missing."""
    try:
        yield
    except ImportError as error:
        raise SettingsError(
            f"ppro tune: {error.name} is missing; pip install 'ppro[tune]'"
        ) from None


def _usual_name(recipe: Recipe, space: str | None) -> str:
    settings = recipe.settings
    parts = [recipe.dataset]
    if settings.model != "ppro":
        parts.append(settings.model)
    else:
        parts += [settings.strategy, *([] if settings.backbone == "appnp" else [settings.backbone])]
    return "-".join([*parts, *([space] if space else [])])


def _check_names(study: str, out: Path | None) -> None:
    if not re.fullmatch(r"[^/\\\s][^/\\]*", study):
        raise SettingsError(f"--study {study!r}: it names files; leave slashes out")
    if out is not None and out.is_dir():
        raise RunError(f"--out {out}: is a folder; name a TOML file")


def _splits(
    graph: Graph, recipe: Recipe, reading: Reading | None, seeds: int | None, where: Any
) -> Splits:
    """One split for each seed of the search."""
    random = recipe.split == RANDOM
    runs = seeds or (OF_ITS_OWN if random else SAME_FOR_ALL)
    if reading is not None:
        return file_splits(reading, recipe.split, runs, FIRST_SEED)
    return make_splits(graph, recipe.dataset, recipe.split, runs, FIRST_SEED, **where)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
