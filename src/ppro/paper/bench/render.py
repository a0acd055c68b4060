"""The benchmark page of the documentation, rendered from result files and nothing else."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ppro.errors import RunError
from ppro.files import markdown_table

Row = Mapping[str, Any]

_INTRO = """# Speed

Written by `ppro bench --render` from the files under `results/bench`; `ppro bench --out FILE`
measures a machine. An epoch of ours is a whole one: for L2B and L2U both passes of Algorithm 1, the
controllers and the validation. PyG is `torch_geometric.nn.APPNP` between two linear layers, trained
as its users do (dense features, Adam, a validation in every epoch). Hidden width 64. Both are timed
in turn in one process; times are medians. The peer always trains one model; ours trains as many as
the column *runs* says. ε is 1 for L2B, so that all nodes go to the end: its costliest case. Rows
with judges are of controllers that compare (`teaching=compare`): the training nodes themselves, or
three further backbones that are each blind to a fold.
"""


def read_reports(folder: Path) -> dict[str, Any]:
    """Return the files of a folder that tell of speed, by their names.

    Raises:
        RunError: there is none, or one cannot be read.
    """
    reports = {}
    for path in sorted(folder.glob("*.json")):
        try:
            report = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunError(f"{path}: cannot be read as a benchmark: {error}") from None
        if "epochs" in report:
            reports[path.stem] = report
    if not reports:
        raise RunError(f"{folder}: no benchmark there; run 'ppro bench --out {folder}/NAME.json'")
    return reports


def page(reports: Mapping[str, Any], chart: str) -> str:
    """Return the whole page as Markdown."""
    parts = [_INTRO, f"![Milliseconds per epoch, ours and PyG]({chart})\n"]
    for name, report in reports.items():
        machine = report["machine"]
        versions = ", ".join(f"{key} {value}" for key, value in machine["versions"].items())
        parts.append(f"## {name}\n\n{machine['name']}, {machine['cores']} cores; {versions}.\n")
        parts.append(_table(report["epochs"]))
        parts.append(_findings(report))
    return "\n".join(parts)


def _table(rows: Sequence[Row]) -> str:
    timed = ("ours, ms", "PyG, ms", "ours / PyG")
    head = ["graph", "form", "L", "strategy", "runs", "threads", *timed]
    cells = [
        [
            *(str(row[key]) for key in ("graph", "form", "max_steps")),
            *(called(row), str(row["runs"]), str(row["threads"])),
            *(f"{row['ours_ms']:.2f}", f"{row['peer_ms']:.2f}", f"{row['ratio']:.3f}"),
        ]
        for row in rows
    ]
    return markdown_table(head, cells) + "\n"


def _findings(report: Mapping[str, Any]) -> str:
    """Ratios between our own cases: runs, edges, depth."""
    rows = report["epochs"]
    lines = [*_runs_ratios(rows), *_edge_ratios(rows), *judges_ratios(rows)]
    memory = report.get("memory_mib", {})
    if memory:
        text = ", ".join(f"L = {depth}: {mib:.1f} MiB" for depth, mib in memory.items())
        ratio = memory["64"] / memory["4"]
        lines.append(f"- peak memory of an L2B step, class form: {text}; 64 / 4: {ratio:.3f}")
    return "\n".join(lines) + "\n" if lines else ""


def _runs_ratios(rows: Sequence[Row]) -> list[str]:
    lines = []
    for row in rows:
        one = [r for r in rows if r["runs"] == 1 and _same(r, row)]
        if row["runs"] > 1 and one:
            ratio = row["ours_ms"] / one[0]["ours_ms"]
            lines.append(f"- {row['runs']} runs / 1 run, {_label(row)}: {ratio:.2f}")
    return lines


def _same(a: Row, b: Row) -> bool:
    keys = ("graph", "form", "max_steps", "strategy", "judges")
    return all(a.get(key) == b.get(key) for key in keys)


def called(row: Row) -> str:
    """Return the strategy of a row, with its judges where controllers compare."""
    judges = row.get("judges")
    return f"{row['strategy']}, judges {judges}" if judges else str(row["strategy"])


def _label(row: Row) -> str:
    return f"{row['graph']}, {row['form']}, L = {row['max_steps']}, {called(row)}"


def judges_ratios(rows: Sequence[Row]) -> list[str]:
    """Return what an epoch with out-of-fold judges costs more than one without.

    Every row was timed in turn with the same peer, so what a busy machine adds falls out.
    """
    lines = []
    for folds in (row for row in rows if row.get("judges") == "folds"):
        for other, told in (("train", "judges train"), (None, "the paper's controllers")):
            alike = [r for r in rows if _same(r, {**folds, "judges": other})]
            if alike and alike[0]["runs"] == folds["runs"]:
                ratio = folds["ratio"] / alike[0]["ratio"]
                where = f"{folds['graph']}, {folds['form']}, {folds['strategy']}"
                lines.append(f"- an epoch, judges folds / {told}, {where}: {ratio:.2f}")
    return lines


def _edge_ratios(rows: Sequence[Row]) -> list[str]:
    lines = []
    for large in (row for row in rows if row["graph"] == "10m-edges"):
        for small in rows:
            if small["graph"] == "1m-edges" and _same(small, {**large, "graph": "1m-edges"}):
                per_edge = [row["ours_ms"] / row["edges"] for row in (large, small)]
                ratio = f"{large['strategy']}: {per_edge[0] / per_edge[1]:.2f}"
                lines.append(f"- time per edge, 10 million / 1 million edges, {ratio}")
    return lines


def draw(reports: Mapping[str, Any], path: Path) -> None:
    """Bars of milliseconds per epoch, ours beside PyG's, one panel for each machine."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise RunError(
            "drawing needs matplotlib; install it with: pip install 'ppro[plots]'"
        ) from None
    figure = Figure(figsize=(12, 4.5 * len(reports)), layout="constrained")
    for panel, (name, report) in enumerate(reports.items(), start=1):
        rows = [
            r
            for r in report["epochs"]
            if r["max_steps"] == 10 and r["runs"] == 1 and not r.get("judges")
        ]
        axes = figure.add_subplot(len(reports), 1, panel)
        places = range(len(rows))
        left, right = [p - 0.2 for p in places], [p + 0.2 for p in places]
        axes.bar(left, [r["ours_ms"] for r in rows], 0.4, label="ours", color="#1f5fa8")
        axes.bar(right, [r["peer_ms"] for r in rows], 0.4, label="PyG APPNP", color="#c9c9c9")
        axes.set_yscale("log")
        axes.set_ylabel("milliseconds per epoch")
        axes.set_title(f"{name}: L = 10, one run")
        labels = [f"{r['graph']}\n{r['form']}\n{r['strategy']}" for r in rows]
        axes.set_xticks(list(places), labels, fontsize=7)
        axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
