"""``ppro bench``: our speed and memory against PyTorch Geometric, on the machine at hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ppro.cli import bench_distributed, bench_large, bench_scale, console
from ppro.cli.options import Device, Report, Threads, shown
from ppro.errors import DataError, SettingsError

if TYPE_CHECKING:
    from ppro.paper.bench import Case


class _SpeedFirst(TyperGroup):
    """``ppro bench`` without the name of a measurement measures speed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the usual command in front of options of its own."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = ["speed", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(help="Measure speed and memory on the machine at hand.", cls=_SpeedFirst)
app.command("distributed")(bench_distributed.distributed)
app.command("large")(bench_large.large)
app.command("scale")(bench_scale.scale)


@app.command("speed")
def bench(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Cora and Pubmed at one depth, no compiler, no memory: minutes."
        ),
    ] = False,
    only: Annotated[str | None, shown("Only this graph.", "all graphs")] = None,
    judges: Annotated[
        bool, typer.Option("--judges", help="Only what judges cost: L2B on Cora, six cases.")
    ] = False,
    device: Device = "auto",
    threads: Threads = None,
    seconds: Annotated[float, shown("Time to spend on each case.", True, min=0.1)] = 6.0,
    out: Report = None,
    render: Annotated[
        Path | None,
        shown(
            "Measure nothing; write this Markdown page and its chart from the files in "
            "results/bench.",
            "off",
        ),
    ] = None,
) -> None:
    """Measure an epoch against networks of PyTorch Geometric; what 'ppro bench' alone does.

    The peer has the same data, sizes, depth, optimiser, and a validation in every epoch. It is
    written as its docs do and as an expert would, and its fastest form counts. All are timed in
    turn in one process, and the ratio of the medians counts. L2B runs to full depth, its costliest
    case.
    """
    if render is not None:
        _render(render)
        return
    from ppro.compute.device import find_device
    from ppro.paper import bench as benches
    from ppro.paper.bench.machine import machine, write_report

    place = find_device(device)
    report: dict[str, Any] = {"machine": machine(place), "epochs": [], "memory_mib": {}}
    found = benches.judged_cases() if judges else benches.cases(quick, place.type == "cuda")
    for case in _chosen(found, only):
        compiled = not (quick or judges)
        try:
            row = benches.measure(case, place, threads, seconds, compiled)
        except DataError as error:
            console.err.print(f"{case.graph}: not measured, {error}")
            continue
        report["epochs"].append(row)
        console.err.print(_line(row))
        write_report(out, report)
    if not (quick or only or judges):
        report["memory_mib"] = _memory(str(place))
        write_report(out, report)
    _show(report["epochs"], report["memory_mib"])
    if out is not None:
        console.out.print(f"written to {out}")


def _chosen(found: list[Case], only: str | None) -> list[Case]:
    chosen = [case for case in found if only in (None, case.graph)]
    if not chosen:
        graphs = ", ".join(dict.fromkeys(case.graph for case in found))
        raise SettingsError(f"--only {only}: no case with this graph; there are {graphs}")
    return chosen


def _render(page_file: Path) -> None:
    from ppro.paper.bench.render import draw, page, read_reports

    reports = read_reports(Path("results") / "bench")
    chart = page_file.with_suffix(".png")
    with console.writing(page_file, "--render"):
        draw(reports, chart)
        page_file.write_text(page(reports, chart.name), encoding="utf-8")
    console.out.print(f"written: {page_file} and {chart.name} beside it")


def _memory(device: str) -> dict[str, float]:
    from ppro.paper.bench import Case
    from ppro.paper.bench.memory import peak_of_step

    case = Case("1m-edges", "class", 4, "l2b")
    return {str(d): peak_of_step(replace(case, max_steps=d), device) for d in (4, 16, 64)}


def _line(row: dict[str, Any]) -> str:
    from ppro.paper.bench.tables import called, form_of

    over = f", {row['over_floor']:.1f} times the floor" if "over_floor" in row else ""
    form = f" ({row['peer']})" if "peer" in row else ""
    return (
        f"{row['graph']} {form_of(row)} L={row['max_steps']} {called(row)} x{row['runs']}: "
        f"{row['ours_ms']:.2f} ms, PyG{form} {row['peer_ms']:.2f} ms, "
        f"ratio {row['ratio']:.3f}{over}"
    )


def _show(rows: list[dict[str, Any]], memory: dict[str, float]) -> None:
    from ppro.paper.bench.render import judges_ratios
    from ppro.paper.bench.tables import called, form_of

    cells = [("graph", "form", "L", "network", "runs", "ours ms", "PyG ms", "ratio")]
    for row in rows:
        sizes = (str(row["max_steps"]), called(row), str(row["runs"]))
        times = (f"{row['ours_ms']:.2f}", f"{row['peer_ms']:.2f}", f"{row['ratio']:.3f}")
        cells.append((row["graph"], form_of(row), *sizes, *times))
    console.out.print(console.aligned(cells, right=(2, 4, 5, 6, 7)))
    for line in judges_ratios(rows):
        console.out.print(line.removeprefix("- "))
    if memory:
        text = ", ".join(f"L={depth}: {mib:.1f} MiB" for depth, mib in memory.items())
        console.out.print(f"peak memory of an L2B step, 1m-edges, class dimension: {text}")
