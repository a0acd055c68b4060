"""``ppro data generate``: a large graph in a folder, for tests and measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppro.cli import console
from ppro.data.large import LargePlan, generate_large
from ppro.errors import DataError
from ppro.files import is_taken, whole_folder

_DEFAULT = LargePlan()


def generate(
    out: Annotated[Path, typer.Argument(help="Folder to write; made if need be.", readable=False)],
    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = _DEFAULT.nodes,
    degree: Annotated[float, typer.Option(help="Mean number of neighbours.")] = _DEFAULT.degree,
    homophily: Annotated[
        float, typer.Option(help="Share of the edges within a class.")
    ] = _DEFAULT.homophily,
    classes: Annotated[int, typer.Option(help="Number of classes.")] = _DEFAULT.classes,
    features: Annotated[int, typer.Option(help="Number of features.")] = _DEFAULT.features,
    signal: Annotated[
        float, typer.Option(help="How far class centres lie from 0; the noise has deviation 1.")
    ] = _DEFAULT.signal,
    train: Annotated[float, typer.Option(help="Share of the nodes that train.")] = _DEFAULT.train,
    val: Annotated[
        float, typer.Option(help="Share that validates; the rest is for testing.")
    ] = _DEFAULT.val,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = _DEFAULT.seed,
) -> None:
    """Generate a graph with heavy-tailed degrees, communities and classes, features on disk.

    [bold]Example[/bold]

      ppro data generate big --nodes 1000000 && ppro train big --set form=class --runs 1
    """
    plan = LargePlan(nodes, degree, homophily, classes, features, signal, train, val, seed)
    plan.check()
    if is_taken(out):
        raise DataError(f"{out}: already exists; choose another or remove it")
    try:
        with whole_folder(out) as folder:
            made = generate_large(folder, plan)
    except OSError as error:
        raise DataError(f"{out}: cannot be written ({error.strerror}); choose another") from None
    size = f"{made.nodes:,} nodes, {made.entries // 2:,} edges"
    console.out.print(f"{size}, {sum(made.bytes.values()) / 2**30:.2f} GiB: written to {out}")
