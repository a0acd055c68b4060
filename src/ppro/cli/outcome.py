"""The result of a training, for a reader."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from ppro.cli import console
from ppro.runs.runfolder import RunConfig

MAX_BAR = 40


def show(facts: dict[str, Any], config: RunConfig, where: Console) -> None:
    """Print the result of a training for a reader."""
    runs, epochs = count(facts["runs"], "run"), count(facts["epochs"], "epoch")
    rows = [
        ("test accuracy", _spread(facts, "test")),
        ("validation accuracy", _spread(facts, "val")),
        *([] if config.source else [("the paper", _paper(facts, config))]),
        ("trained", f"{runs}, {epochs}, {facts['seconds']:.1f} s"),
        ("saved in", facts["out"]),
    ]
    where.print()
    where.print("steps that the nodes chose (share of all nodes, all runs)")
    where.print(histogram(facts["steps"], "█▏" if where.encoding.startswith("utf") else "#."))
    where.print()
    where.print(console.aligned(rows))


def _spread(facts: dict[str, Any], part: str) -> str:
    mean, std = facts[f"{part}_mean"], facts[f"{part}_std"]
    if math.isnan(mean):
        return "no node to measure it on"
    return f"{mean:.2f} %" if facts["runs"] == 1 else f"{mean:.2f} ± {std:.2f} %"


def _paper(facts: dict[str, Any], config: RunConfig) -> str:
    if config.paper is None:
        return "no number for this dataset, split and strategy"
    spread = "" if config.paper.std is None else f" ± {config.paper.std}"
    difference = facts["test_mean"] - config.paper.accuracy
    return f"{config.paper.accuracy}{spread} % ({config.paper.table}); ours {difference:+.2f}"


def histogram(shares: Sequence[float], ink: str = "█▏") -> str:
    """Bars for the share of nodes at each step; steps that no node chose are left out.

    Args:
        ink: what a bar is drawn with, and the trace of a share too small for a bar.
    """
    peak = max(shares)
    lines: list[str] = []
    before = None
    for k, share in enumerate(shares):
        if share == 0:
            continue
        if before is not None and k > before + 1:
            lines.append("  ...")
        bar = ink[0] * round(MAX_BAR * share / peak) or ink[1]
        lines.append(f"  {k:>3}  {100 * share:5.1f} %  {bar}")
        before = k
    return "\n".join(lines)


def count(number: int, what: str) -> str:
    """A number and what it counts, in the plural where it is one."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
