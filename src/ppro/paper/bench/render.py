"""The benchmark page of the documentation, rendered from result files and nothing else."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ppro.errors import RunError
from ppro.paper.bench.tables import Row, form_of, forms_table, label, limit_table, speed_table

BARS, PER_CASE = 3, 0.8
"""Fewer bars are not worth a panel of the picture; inches of a case, for its name to fit."""
_INTRO = """# Speed

Written by `ppro bench --render` from the files under `results/bench`; `ppro bench --out FILE`
measures a machine. An epoch of ours is a whole one: for L2B and L2U both passes of Algorithm 1, the
controllers and the validation. PyG is the same network of `torch_geometric.nn` without controllers,
with Adam and a validation in every epoch: for L2B and L2U its APPNP between two linear layers.
Hidden width 64. All are timed in turn in one process; times are medians, with one thread on a CPU
those of the processor, which others do not lengthen. Ours and the peer have as many threads as the
column *threads* says. The peer always trains one model; ours trains as many as the column *runs*
says. ε is 1 for L2B, so that all nodes go to the end: its costliest case. Rows with judges are of
controllers that compare (`teaching=compare`): the training nodes themselves, or three further
backbones that are each blind to a fold.

The peer comes in several forms, and the fastest counts: *documented* as the docs of PyG write it
(a list of edges, dense features); *cached*, where layers normalise the graph once and Adam is one
kernel, as in all that follow; *CSR*, the graph as a sparse matrix; *sparse X*, features as a sparse
matrix whose stored values alone are dropped; *compiled*, all layers but the first through
`torch.compile`, on a CPU alone (on a GPU, in turn with our recorded epochs, PyTorch 2.11 ended in
an illegal memory access). Forms far behind are timed in the first rounds only.

The limit of an epoch is counted, not measured: the bytes that must move when every product reads
its matrices once and writes its result once, layers that work row by row are part of the product
beside them, and dropout, losses and choices cost nothing; and the operations of these products.
GB/s is what this machine moves in copies of as many bytes as a step works on, which may lie in a
cache. *ours / floor* is the time of our fastest epoch over that of moving the bytes. *calls* are
those of PyTorch's operators in an epoch of ours, on a GPU the kernels that it starts; where each
works on little, they are the limit and not the bytes.

Where the limit is, as profiles of these cases show:

- **Small graphs** (Cora) are bound by calls. Bare APPNP makes a third of the calls of L2B, whose
  controllers look at every step in three passes with many small operators, each of which costs more
  to start than to do; the compiled peer has few left. The bytes take a small part of the time.
- **Features of medium density** (amazon-cs, Pubmed) are bound by the products with X: one for each
  of both passes, one for the gradient, one for the validation. They run near what the second-level
  cache delivers. The dropout of X hashes every stored value anew in each pass, since a mask is a
  function of seed, epoch and place.
- **Millions of edges** are bound by fetching a neighbour's row from anywhere in memory. Rows are
  laid out so that none lies across two lines of the cache; the bytes of the floor, each read once,
  would need an order of the nodes in which neighbours lie together. Where most nodes are training
  or validation nodes, as in the generated graphs, the controllers' layers over all of them in every
  step of three passes take a large part of an L2B epoch.
- **On a GPU** small graphs are bound by kernels too, though an epoch is one recorded graph.
- **Many runs** in a batch make each other cheaper until the machine is full; `ppro tune` and `ppro
  reproduce` form batches accordingly.
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
        if "load" in machine:
            parts.append(f"Work of others before the measurement (load): {machine['load']}.\n")
        parts.append(speed_table(report["epochs"]))
        parts.append(_findings(report))
        for title, text in (
            ("the peer in all its forms, ms", forms_table(report["epochs"])),
            ("the limit", limit_table(report["epochs"])),
        ):
            if text:
                parts.append(f"### {name}: {title}\n\n{text}")
    return "\n".join(parts)


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
            speed = f"{1e3 * row['runs'] / row['ours_ms']:,.0f} model-epochs a second"
            lines.append(f"- {row['runs']} runs / 1 run, {label(row)}: {ratio:.2f}; {speed}")
    return lines


def _same(a: Row, b: Row) -> bool:
    keys = ("graph", "form", "model", "max_steps", "strategy", "judges")
    return all(a.get(key) == b.get(key) for key in keys)


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


def _drawn(report: Mapping[str, Any]) -> list[Any]:
    """Return the epochs of a report that the picture shows."""
    return [
        row
        for row in report["epochs"]
        if row["max_steps"] == 10
        and row["runs"] == 1
        and not (row.get("judges") or row.get("model"))
    ]


def draw(reports: Mapping[str, Any], path: Path) -> None:
    """Bars of milliseconds per epoch, ours beside PyG's, one panel for each machine."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise RunError(
            "drawing needs matplotlib; install it with: pip install 'ppro[plots]'"
        ) from None
    drawn = {name: _drawn(report) for name, report in reports.items()}
    shown = {name: rows for name, rows in drawn.items() if len(rows) >= BARS} or drawn
    width = max(12.0, PER_CASE * max(len(rows) for rows in shown.values()))
    figure = Figure(figsize=(width, 4.5 * len(shown)), layout="constrained")
    for panel, (name, rows) in enumerate(shown.items(), start=1):
        axes = figure.add_subplot(len(shown), 1, panel)
        places = range(len(rows))
        left, right = [p - 0.2 for p in places], [p + 0.2 for p in places]
        several = any(row.get("peers_ms") for row in rows)
        peer = "PyG APPNP, its fastest form" if several else "PyG APPNP, as documented"
        axes.bar(left, [r["ours_ms"] for r in rows], 0.4, label="ours", color="#1f5fa8")
        axes.bar(right, [r["peer_ms"] for r in rows], 0.4, label=peer, color="#c9c9c9")
        axes.set_yscale("log")
        axes.set_ylabel("milliseconds per epoch")
        axes.set_title(f"{name}: L = 10, one run")
        labels = [f"{r['graph']}\n{form_of(r)}\n{r['strategy']}" for r in rows]
        axes.set_xticks(list(places), labels, fontsize=6)
        axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
