"""``ppro bench large``: training on graphs with features on disk, L2B beside the MLP."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ppro.cli import console
from ppro.cli.options import shown
from ppro.data.large.plan import LargePlan
from ppro.errors import RunError
from ppro.settings.limits import LARGE_EPOCHS

if TYPE_CHECKING:
    from ppro.paper.bench.large import LargeCase

_PLAN = LargePlan()


def large(
    nodes: Annotated[
        list[int] | None,
        shown("Nodes of a graph; repeat for more.", "1000000, 10000000"),
    ] = None,
    degree: Annotated[float, typer.Option(help="Mean number of neighbours.")] = _PLAN.degree,
    classes: Annotated[int, typer.Option(help="Number of classes.")] = _PLAN.classes,
    features: Annotated[int, typer.Option(help="Number of features.")] = _PLAN.features,
    epochs: Annotated[int, typer.Option(min=2, help="Epochs of every training.")] = LARGE_EPOCHS,
    graphs: Annotated[
        Path,
        typer.Option(help="Folder for the graphs; those there are used again.", readable=False),
    ] = Path("build/large-graphs"),
    out: Annotated[
        Path,
        typer.Option(help="JSON file; what it holds is not measured again.", readable=False),
    ] = Path("results/bench/large.json"),
) -> None:
    """Train L2B (APPNP in class form, L = 10) and the MLP on generated graphs, features on disk.

    Each training has a process of its own: seconds per epoch, peak memory beside its estimate,
    accuracy. Every result is written at once, and the same command goes on after an interruption.

    [bold]Example[/bold]

      ppro bench large --nodes 100000 --epochs 5 --out large.json
    """
    from ppro.paper.bench.large import METHODS, LargeCase

    report = _begun(out)
    counts = sorted(nodes or (1_000_000, 10_000_000))
    cases = [
        LargeCase(count, degree, classes, features, method, epochs)
        for count in counts
        for method in METHODS
    ]
    for case in cases:
        case.plan.check()
    try:
        for case in cases:
            console.out.print(_line(_measured(report, case, graphs, out)))
    except KeyboardInterrupt:
        console.err.print(f"interrupted: {out} keeps what was measured; the same command goes on")
        raise typer.Exit(console.INTERRUPTED) from None
    console.out.print(f"written to {out}")


def _measured(report: dict[str, Any], case: LargeCase, graphs: Path, out: Path) -> dict[str, Any]:
    """Return the result of a training from the report, or measure it and add it there."""
    from ppro.paper.bench.large import measure_large
    from ppro.paper.bench.machine import write_report

    wanted = asdict(case).items()
    for row in report["trainings"]:
        if wanted <= row.items():
            known: dict[str, Any] = row
            return known
    console.err.print(f"{case.method}: {case.nodes:,} nodes, {case.epochs} epochs")
    row = measure_large(graphs, case)
    report["trainings"].append(row)
    write_report(out, report)
    return row


def _begun(out: Path) -> dict[str, Any]:
    """Return what an earlier call measured, or an empty report of this machine."""
    import torch

    from ppro.paper.bench.machine import machine

    here = machine(torch.device("cpu"))
    if not out.exists():
        return {"machine": here, "trainings": []}
    try:
        report: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        there = report["machine"]
        report["trainings"] = [dict(row) for row in report["trainings"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{out}: no report of large graphs ({error!r}); choose another") from None
    if there != here:
        raise RunError(f"{out}: measured on another machine or version; choose another or remove")
    return report


def _line(row: dict[str, Any]) -> str:
    from ppro.training.memory import GIB

    per_edge = 1e9 * row["epoch_s"] / row["edges"]
    return (
        f"{row['method']}, {row['nodes']:,} nodes, {row['edges']:,} edges: "
        f"{row['epoch_s']:.2f} s an epoch ({per_edge:.0f} ns an edge), "
        f"peak {row['peak_bytes'] / GIB:.2f} GiB (estimate {row['estimate_bytes'] / GIB:.2f}), "
        f"test {row['test_accuracy']:.2f} %"
    )
