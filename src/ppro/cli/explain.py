"""``ppro explain``: the story of one node in the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ppro.cli import console
from ppro.cli.file_options import GivenRun, takes_run
from ppro.cli.options import RunFolder

if TYPE_CHECKING:
    from rich.table import Table

    from ppro.insight.explain import ExplainedRun

LONGEST = 60
"""Characters that are shown of a name; ``--json`` gives all of them."""
BAR = 20
"""Characters of the longest bar."""
MOST_BARS = 8
"""Rows of bars that are shown, the strongest; ``--json`` gives all of them."""


@takes_run
def explain(
    run: RunFolder,
    node: Annotated[str, typer.Argument(help="The id of a node.")],
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    *,
    given: GivenRun,
) -> None:
    """Explain one node: its class by step, where it stopped, its priority and what drives it.

    [bold]Examples[/bold]

      ppro explain runs/cora-l2b 42

      ppro explain runs/cora-l2b 42 --run 3 --json
    """
    from ppro.files import dump_json
    from ppro.graph.ids import numbers_of
    from ppro.insight.explain import explain_run
    from ppro.insight.story import node_story

    opened = explain_run(run, given.index, threads=given.threads, **given.graph)
    story = node_story(opened, numbers_of(opened.graph, [node])[0])
    if json:
        print(dump_json(story))
    else:
        show(story, opened)


def show(story: dict[str, Any], run: ExplainedRun) -> None:
    """Print a story for a reader."""
    out = console.out
    out.print(f"node {_short(story['id'])} of {run.config.dataset}, run {run.index}", style="bold")
    out.print(console.aligned(_facts(story)))
    if len(story["by_step"]) > 1:
        out.print()
        out.print(_step_table(story))
    if story["by_step"][0]["evidence"] is not None:
        out.print()
        out.print(_evidence_table(story))
    for title, rows in (
        ("what drives its priority (gradient x input)", story["drivers"]),
        ("features that matter (for + or against - its class)", story["features"]),
    ):
        if rows:
            out.print()
            out.print(title, style="bold")
            out.print(_bars(rows))
    out.print()
    out.print(console.fields([("neighbours", _neighbours(story))]))
    _show_run(story["of_the_run"])


def _show_run(told: dict[str, Any]) -> None:
    """Print what holds for all nodes of the run."""
    priorities = told["priorities"]
    lines = [] if priorities is None else [" ".join(priorities["told"])]
    lines += [f"{line[0].upper()}{line[1:]}." for line in told["collapsed"]]
    if lines:
        console.out.print()
        console.out.print("of all nodes of the run", style="bold")
        console.out.print("\n".join(console.paragraph(line) for line in lines))


def _facts(story: dict[str, Any]) -> list[tuple[str, str]]:
    label = story["label"]
    verdict = "" if label is None else (" (right)" if story["correct"] else " (wrong)")
    rows = [
        ("label", "none" if label is None else _short(label)),
        ("predicted", f"{_short(story['predicted'])}{verdict}, {story['probability']:.1%}"),
        ("split", story["split"]),
        ("degree", f"{story['degree']:,}"),
    ]
    if story["homophily"] is not None:
        rows.append(("neighbours with its label", f"{story['homophily']:.0%}"))
    if len(story["by_step"]) > 1:
        rows.append(("step", f"{story['step']} of {len(story['by_step']) - 1}"))
        rows.append(("at step 0 alone", _short(story["by_step"][0]["predicted"])))
        rows.append(("at full depth", _short(story["by_step"][-1]["predicted"])))
    if story["priority"] is not None:
        rank = f"higher than {story['priority_rank']:.0%} of the nodes"
        rows.append(("priority", f"{story['priority']:.3f}, {rank}"))
    return rows


def _step_table(story: dict[str, Any]) -> Table:
    """Return probabilities by step of the classes that ever lead or come second."""
    from rich.table import Table

    classes = _leading(story)
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column("step", justify="right")
    for name in classes:
        table.add_column(_title(name), justify="right", no_wrap=True, max_width=18)
    decides = any(row["decision"] is not None for row in story["by_step"])
    if decides:
        table.add_column(f"P({story['decision']})", justify="right")
    for row in story["by_step"]:
        chosen = row["step"] == story["step"]
        cells = [f"{row['probabilities'][name]:.1%}" for name in classes]
        if decides:
            cells.append("-" if row["decision"] is None else f"{row['decision']:.1%}")
        step = f"> {row['step']}" if chosen else str(row["step"])
        table.add_row(step, *cells, style="reverse" if chosen else None)
    return table


def _evidence_table(story: dict[str, Any]) -> Table:
    """Return what the controllers compare: the node as it is at step 0, at its own, and at L."""
    from rich.table import Table

    last = len(story["by_step"]) - 1
    shown = sorted({0, story["step"], last})
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column("what the controllers compare", no_wrap=True)
    for step in shown:
        mark = "> " if step == story["step"] else ""
        table.add_column(f"{mark}step {step}", justify="right")
    rows = [story["by_step"][step]["evidence"] for step in shown]
    for name in rows[0]:
        table.add_row(name, *(f"{row[name]:.1%}" for row in rows))
    return table


def _leading(story: dict[str, Any], most: int = 4) -> list[str]:
    peaks: dict[str, float] = {}
    for row in story["by_step"]:
        for name, p in row["probabilities"].items():
            peaks[name] = max(peaks.get(name, 0.0), p)
    return sorted(peaks, key=lambda name: -peaks[name])[:most]


def _bars(rows: list[dict[str, Any]]) -> str:
    if len(rows) > MOST_BARS:
        rows = sorted(rows, key=lambda row: -abs(row["adds"]))[:MOST_BARS]
    peak = max(abs(row["adds"]) for row in rows) or 1.0
    ink = "█" if console.out.encoding.startswith("utf") else "#"
    lines = []
    for row in rows:
        z = "" if row.get("z") is None else f"z = {row['z']:+.2f}"
        bar = ink * math.ceil(BAR * abs(row["adds"]) / peak)
        lines.append((f"  {_short(row['name'])}", z, f"{row['adds']:+.3f}", bar))
    return console.aligned(lines, right=(2,))


def _neighbours(story: dict[str, Any], most: int = 12) -> str:
    names = [
        f"{_short(n['id'])} ({'no label' if n['label'] is None else _short(n['label'])})"
        for n in story["neighbours"][:most]
    ]
    rest = len(story["neighbours"]) - len(names)
    return ", ".join(names) + (f" and {rest:,} more" if rest else "") or "none"


def _short(text: str) -> str:
    """Return a user's text for the terminal: cut, and without control characters."""
    clean = "".join(sign if sign.isprintable() else "?" for sign in text)
    return clean if len(clean) <= LONGEST else clean[: LONGEST - 1] + "…"


def _title(text: str) -> str:
    """Return a column title in which rich finds no markup."""
    from rich.markup import escape

    return escape(_short(text))
