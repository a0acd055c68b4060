"""``ppro bench distributed``: several ranks on this machine against one process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ppro.cli import console
from ppro.cli.options import Report, shown

if TYPE_CHECKING:
    from ppro.paper.bench.rank_worker import Task

SMALL = {"nodes": 2000.0, "classes": 5.0, "features": 64.0, "degree": 8.0}
TINY = ("train", "csbm", "--option", "nodes=150", "--runs", "1", "--set", "epochs=5")


def distributed(
    graph: Annotated[
        list[str] | None,
        shown("Graph of the catalogue; repeat for more.", "csbm"),
    ] = None,
    nodes: Annotated[
        int, typer.Option(min=0, help="Nodes of a generated graph on disk; 0 leaves it out.")
    ] = 200_000,
    ranks: Annotated[
        list[int] | None,
        shown("Number of ranks; repeat for more.", "2, 4", min=2),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of a training in memory.")] = 30,
    times: Annotated[
        int, typer.Option(min=0, help="Two-rank jobs to start one after the other by torchrun.")
    ] = 100,
    graphs: Annotated[
        Path, typer.Option(help="Folder for generated graphs.", readable=False)
    ] = Path("build/large-graphs"),
    out: Report = None,
) -> None:
    """Compare losses, steps, predictions, memory and bytes of several ranks with one process.

    L2B and L2U in both forms of APPNP, on graphs in memory; L2B in class form on a graph on disk.
    """
    import torch

    from ppro.paper.bench.distributed import compared, consecutive
    from ppro.paper.bench.machine import machine, write_report

    report: dict[str, Any] = {"machine": machine(torch.device("cpu")), "trainings": []}
    for name, task in _tasks(graph or ["csbm"], nodes, epochs, graphs):
        for row in compared(task, name, ranks or (2, 4)):
            report["trainings"].append(row)
            console.err.print(line(row))
            write_report(out, report)
    if times:
        report["consecutive"] = consecutive(times, TINY)
        failed = len(report["consecutive"]["failures"])
        console.err.print(f"{times} jobs of two ranks, one after the other: {failed} failed")
        write_report(out, report)
    if out is not None:
        console.out.print(f"written to {out}")


def _tasks(names: list[str], nodes: int, epochs: int, graphs: Path) -> list[tuple[str, Task]]:
    from ppro.paper.bench.large import LargeCase, ensure_graph
    from ppro.paper.bench.rank_worker import Task

    tasks = []
    for name in names:
        options = SMALL if name == "csbm" else {}
        for strategy, form in (("l2b", "hidden"), ("l2u", "class"), ("none", "class")):
            settings = {"strategy": strategy, "form": form, "epochs": epochs}
            tasks.append((name, Task(name, settings, 2, options)))
    if nodes:
        case = LargeCase(nodes, 20.0, 10, 64, "l2b", 4)
        folder = ensure_graph(graphs, case.plan)
        # The largest ε: every node goes to the end, and every epoch has all its products.
        settings = {**case.settings().flat(), "epsilon": 1.0}
        kept = ("strategy", "form", "feature_norm", "lr", "epochs", "max_steps", "epsilon")
        tasks.append(("generated", Task(str(folder), {key: settings[key] for key in kept})))
    return tasks


def line(row: dict[str, Any]) -> str:
    """Return what a training came to, in a line."""
    what = f"{row['graph']} {row['settings']['strategy']} {row['settings']['form']}"
    text = f"{what}, {row['ranks']} ranks: {row['epoch_s']:.3f} s an epoch, most memory of a rank "
    text += f"{row['most_memory_mib']:.0f} MiB"
    if row["ranks"] == 1:
        return text
    apart = ", ".join(f"{name} {value:.1e}" for name, value in row["apart"].items())
    same = (
        f"steps {100 * row['same_steps']:.2f} %, predictions {100 * row['same_predictions']:.2f} %"
    )
    sent = (
        f"{row['product_bytes']:.0f} bytes a product, {row['measured_to_model']:.3f} of the model"
    )
    return f"{text}; apart by {apart}; the same: {same}; {sent}"
