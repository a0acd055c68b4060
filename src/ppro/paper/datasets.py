"""The statistics of the datasets, beside those that the paper prints."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppro.data import DATASETS, PAPERS, load_graph
from ppro.data.records import Statistics
from ppro.files import markdown_table
from ppro.paper.experiment import Plan, Work
from ppro.paper.store import Store

TITLE = "## Table 6: datasets\n"


def measure(
    names: Sequence[str], *, data_root: Path | None = None, offline: bool = False
) -> dict[str, Any]:
    """Return the sizes of the graphs as they are stored here."""
    found = {}
    for name in names:
        graph = load_graph(name, data_root=data_root, offline=offline)
        sizes = graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes
        found[name] = dict(zip(Statistics.__dataclass_fields__, sizes, strict=True))
    return {"datasets": found}


def markdown(record: dict[str, Any]) -> str:
    """Return the table, and every difference explained."""
    keys = list(Statistics.__dataclass_fields__)
    rows, notes = list[list[str]](), list[str]()
    for name, sizes in record["datasets"].items():
        info = DATASETS[name]
        rows.append([info.title, *(_place(sizes[key], info.paper, key) for key in keys)])
        notes += [f"- {info.title}: {defect}." for defect in info.known_defects]
    legend = "In brackets the paper's number where it differs. Edges are undirected."
    table = markdown_table(["dataset", *keys], rows)
    return "\n".join([TITLE, table, "", legend, "", *notes]) + "\n"


def _place(ours: int, paper: Statistics | None, key: str) -> str:
    theirs = None if paper is None else getattr(paper, key)
    return f"{ours:,}" if theirs in (None, ours) else f"{ours:,} ({theirs:,})"


@dataclass(frozen=True)
class DatasetSizes(Work):
    """The sizes of all graphs, kept in one file."""

    place: str = "datasets"

    def run(self, plan: Plan) -> str:
        """Measure the graphs and keep their sizes."""
        found = measure(PAPERS, data_root=plan.data_root, offline=plan.offline)
        plan.store.write(self.place, found)
        return f"{self.place}: {len(PAPERS)} graphs"


def kept_markdown(store: Store) -> str:
    """Return the table of the sizes that were measured."""
    record = store.read(DatasetSizes().place)
    if record is None:
        return f"{TITLE}\nNot measured yet: run `ppro reproduce datasets`.\n"
    return markdown(record)
