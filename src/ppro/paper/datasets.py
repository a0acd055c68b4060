"""The statistics of the datasets, beside those that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ppro.data import DATASETS, load_graph
from ppro.data.records import Statistics

PAPERS = tuple(name for name, info in DATASETS.items() if info.sources)


def measure(
    names: Sequence[str], *, data_root: Path | None = None, offline: bool = False
) -> dict[str, Any]:
    """Sizes of the graphs as they are stored here."""
    found = {}
    for name in names:
        graph = load_graph(name, data_root=data_root, offline=offline)
        sizes = graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes
        found[name] = dict(zip(Statistics.__dataclass_fields__, sizes, strict=True))
    return {"datasets": found}


def markdown(record: dict[str, Any]) -> str:
    """The table, and every difference explained."""
    keys = list(Statistics.__dataclass_fields__)
    lines = ["| dataset | " + " | ".join(keys) + " |", "|---" * (len(keys) + 1) + "|"]
    notes = []
    for name, sizes in record["datasets"].items():
        info = DATASETS[name]
        places = [_place(sizes[key], info.paper, key) for key in keys]
        lines.append(f"| {info.title} | " + " | ".join(places) + " |")
        notes += [f"- {info.title}: {defect}." for defect in info.known_defects]
    legend = "In brackets the paper's number where it differs. Edges are undirected."
    return "\n".join(["## Table 6: datasets\n", *lines, "", legend, "", *notes]) + "\n"


def _place(ours: int, paper: Statistics | None, key: str) -> str:
    theirs = None if paper is None else getattr(paper, key)
    return f"{ours:,}" if theirs in (None, ours) else f"{ours:,} ({theirs:,})"
