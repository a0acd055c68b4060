"""``ppro tune``: search settings on validation nodes, alone or with other workers."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ppro.cli import console
from ppro.cli.file_options import GivenGraph, takes_graph
from ppro.cli.method_options import GivenMethod, takes_method
from ppro.cli.options import Device, Json, shown
from ppro.errors import RunError, SettingsError
from ppro.files import is_name
from ppro.parts.choices import Kind
from ppro.settings.limits import SEARCH_SEED, SEEDS_OF_FIXED, SEEDS_OF_RANDOM

FOLDER = Path("tuning")
"""Where studies and what they find are written."""


@takes_graph
@takes_method
def tune(  # noqa: PLR0913 - one argument per option
    trials: Annotated[
        int, typer.Option(min=1, help="Configurations of the study in all, over all workers.")
    ] = 50,
    timeout: Annotated[
        float | None,
        shown(
            "Seconds after which no further batch begins; the one under way is finished.",
            "none",
            min=0,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        shown(
            f"Seeds of each configuration, from {SEARCH_SEED}.",
            f"{SEEDS_OF_FIXED}, or {SEEDS_OF_RANDOM} on random splits",
            min=1,
        ),
    ] = None,
    space: Annotated[
        str | None,
        shown(
            f"What is searched: {' or '.join(get_args(Kind))}, the method's own space for "
            "such graphs, or paper, the grid of the paper.",
            "what suits the graph",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Fix a setting: key=value. It is not searched then."),
    ] = None,
    study: Annotated[str | None, shown("Name of the study.", "graph and method")] = None,
    storage: Annotated[
        str | None,
        shown(
            "Journal file, postgresql://user:password@host/database, or sqlite:///file.db.",
            "tuning/STUDY.journal",
        ),
    ] = None,
    batch: Annotated[
        int | None,
        shown("Configurations trained together.", "chosen from device and graph", min=1),
    ] = None,
    prune: Annotated[
        bool,
        typer.Option(help="Give configurations up whose first seed is in the lower half."),
    ] = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the proposals.")] = 0,
    device: Device = "auto",
    out: Annotated[
        Path | None,
        shown("File for the best recipe.", "tuning/STUDY/recipe.toml", readable=False),
    ] = None,
    json: Json = False,
    *,
    method: GivenMethod,
    graph: GivenGraph,
) -> None:
    """Search settings: the best recipe by a metric on validation nodes, for 'ppro train'.

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
    from ppro.cli.outcome import headline_of_search, show_search
    from ppro.compute.device import find_device
    from ppro.files import dump_json
    from ppro.search.choice import choose_recipe, splits_of_search, study_name
    from ppro.settings.settings import assignments

    name, reading = graph.name, graph.reading
    changes = assignments(set_ or [])
    wanted: Any = {"split": method.split, "options": method.options, "changes": changes}
    recipe = choose_recipe(name, None, own=reading, **wanted)
    study = study or study_name(recipe, space)
    _check_names(study, out)
    loaded = graph.load()
    splits = splits_of_search(loaded, recipe, reading, seeds, **graph.where)
    with _optuna():
        from ppro.search.tuning.session import Session, Wishes
        from ppro.search.tuning.subject import Subject
    subject = Subject(loaded, splits, recipe, changes, own=reading is not None)
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
    console.err.print(headline_of_search(session))
    epochs = session.evaluator.base.training.epochs
    ended = session.run(_tell, lambda: console.training_progress(epochs))
    best, facts, notes = session.leave()
    show_search(session, best, facts, notes, console.err if json else console.out)
    if json:
        print(dump_json(facts))
    if not ended:
        console.warn("interrupted: the same command goes on from here")
        raise typer.Exit(console.INTERRUPTED)


@contextmanager
def _optuna() -> Iterator[None]:
    """Say what to install where Optuna, or what we use with it, is missing."""
    try:
        yield
    except ImportError as error:
        raise SettingsError(
            f"ppro tune: {error.name} is missing; pip install 'ppro[tune]'"
        ) from None


def _check_names(study: str, out: Path | None) -> None:
    if not is_name(study):
        raise SettingsError(
            f"--study {study!r}: it names files; give a short name without slashes, not . or .."
        )
    if out is not None and out.is_dir():
        raise RunError(f"--out {out}: is a folder; name a TOML file")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
