"""``ppro report``: a saved run as one HTML file."""

from pathlib import Path
from typing import Annotated

from ppro.cli import console
from ppro.cli.file_options import GivenRun, check_not_read, takes_run
from ppro.cli.options import RunFolder, shown
from ppro.errors import RunError


@takes_run
def report(
    run: RunFolder,
    out: Annotated[
        Path | None,
        shown("HTML file to write.", "report.html in the run folder", readable=False),
    ] = None,
    *,
    given: GivenRun,
) -> None:
    """Write a saved run as one HTML file: results, charts, and an explorer of the graph.

    The file needs no network and no server: open it in a browser, send it by mail.

    [bold]Examples[/bold]

      ppro report runs/cora-l2b

      ppro report runs/cora-l2b --run 3 --out run3.html
    """
    from ppro.insight.explain import explain_run
    from ppro.insight.report import plotting_library, render, report_data
    from ppro.runs.opening import open_run

    out = out or run / "report.html"
    if out.is_dir():
        raise RunError(f"--out {out}: is a folder; name an HTML file")
    check_not_read("--out", out, [given.graph["new"], open_run(run).config.source])
    plotting_library()
    opened = explain_run(run, given.index, threads=given.threads, **given.graph)
    page = render(report_data(opened))
    console.write(out, page)
    size = f"{len(page.encode()) / 1e6:.1f} MB"
    console.out.print(f"run {opened.index}: {opened.graph.num_nodes:,} nodes, {size}")
    console.out.print(f"written to {out}; open it in a browser")
