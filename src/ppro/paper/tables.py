"""The paper's tables: which cells they have, and what the paper prints in them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from ppro.data import dataset_info
from ppro.data.names import GEOM_GCN, PUBLIC, RANDOM
from ppro.paper.cells import Cell
from ppro.parts import BACKBONES, RIVALS, STRATEGIES, Registry
from ppro.search.methods import find_method


@dataclass(frozen=True)
class PaperNumber:
    """An accuracy of the paper, with its standard deviation where it prints one."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Column:
    """A column of a panel: a dataset, a split and what is changed in its cells."""

    heading: str
    dataset: str
    split: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """A table, or one part of it that has the same columns.

    Args:
        rows: names of methods, in order.
        paper: the paper's number by method and heading.
        left_out: cells that the paper leaves empty, and that stay empty here.
        pairs: methods to compare run by run: PPro and its own backbone.
        studied: whether validation accuracies and the use of the steps are shown as well.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[str]
    paper: Mapping[tuple[str, str], PaperNumber]
    left_out: frozenset[tuple[str, str]] = frozenset()
    pairs: Sequence[tuple[str, str]] = ()
    studied: bool = False

    def cell(self, row: str, column: Column) -> Cell | None:
        """Return what stands in a place, or None where nothing does."""
        if (row, column.heading) in self.left_out:
            return None
        return Cell(column.dataset, column.split, row, column.changes)

    def cells(self) -> list[Cell]:
        """Return all of them."""
        found = [self.cell(row, column) for row in self.rows for column in self.columns]
        return [cell for cell in found if cell is not None]


@dataclass(frozen=True)
class Table:
    """A table of the paper."""

    name: str
    title: str
    panels: Sequence[Panel]

    def cells(self) -> list[Cell]:
        """Return all cells of all panels, each once."""
        found = {cell.place: cell for panel in self.panels for cell in panel.cells()}
        return list(found.values())


OURS = ("appnp-none", "l2b", "l2u")
"""PPro and its backbone, from whose searches the recipes are made."""
CONSISTENT = ("mlp", "gcn", "appnp", "gcnii", "gprgnn", *OURS)
"""The methods that are measured with consistency too."""
APPNP_PAIRS = (("l2b", "appnp-none"), ("l2u", "appnp-none"))
_DATASETS_BESIDE = {"cornell-legacy": "cornell", "chameleon": "chameleon-deduplicated"}


@cache
def _paper() -> dict[str, Any]:
    text = (files(__package__) / "paper.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _number(entry: Any) -> PaperNumber | None:
    if entry == "-":
        return None
    return PaperNumber(*entry) if isinstance(entry, list) else PaperNumber(entry)


def _numbers(
    rows: Mapping[str, Sequence[Any]], headings: Sequence[str]
) -> dict[tuple[str, str], PaperNumber]:
    """Return the paper's numbers by method and heading."""
    found: dict[tuple[str, str], PaperNumber] = {}
    for method, entries in rows.items():
        for heading, entry in zip(headings, entries, strict=True):
            number = _number(entry)
            if number is not None:
                found[method, heading] = number
    return found


def paper_split(dataset: str) -> str:
    """Return the split of the paper."""
    return PUBLIC if PUBLIC in dataset_info(dataset).splits else RANDOM


def _columns(datasets: Sequence[str], split: str | None = None) -> list[Column]:
    return [Column(dataset_info(d).title, d, split or paper_split(d)) for d in datasets]


def _rows(paper: Mapping[str, Any], *more: str) -> list[str]:
    """Return the paper's methods, those it only cites, PPro with its backbone, and the user's."""
    return [*(m for m in paper if m not in OURS), *more, *OURS, *_own(RIVALS), *_own(STRATEGIES)]


def _own(registry: Registry) -> list[str]:
    """Return the names of the parts that a user's script has registered."""
    return [name for name, part in registry.items() if part.__module__.split(".")[0] != "ppro"]


def searches_behind(name: str) -> tuple[str, ...]:
    """Return the searches of the backbone alone or of a strategy that recipes are made from."""
    strategy = find_method(name).settings["strategy"]
    return name, f"{name}-wide", f"{name}+c", f"{name}+c4", f"grand-{strategy}"


def homophilous() -> Table:
    """Table 1."""
    spec = _paper()["homophilous"]
    columns = _columns(spec["columns"])
    numbers = _numbers(spec["rows"], [c.heading for c in columns])
    rows = _rows({"mlp": None, **spec["rows"]}, "gprgnn", "dagnn", "h2gcn")
    panel = Panel("public split", columns, rows, numbers, pairs=APPNP_PAIRS)
    return Table("homophilous", "Table 1: homophilous graphs", [panel])


def heterophilous() -> Table:
    """Table 2, under the paper's protocol and under that of Geom-GCN."""
    spec = _paper()["heterophilous"]
    datasets = []
    for dataset in spec["columns"]:
        datasets += [dataset, *filter(None, [_DATASETS_BESIDE.get(dataset)])]
    rows = _rows({"mlp": None, **spec["rows"]}, "gprgnn", "dagnn")
    headings = [dataset_info(d).title for d in spec["columns"]]
    panels = []
    for split in (RANDOM, GEOM_GCN):
        numbers = _numbers(spec["rows"], headings) if split == RANDOM else {}
        fitting = [d for d in datasets if split in dataset_info(d).splits]
        columns = _columns(fitting, split)
        panels.append(Panel(f"split {split}", columns, rows, numbers, pairs=APPNP_PAIRS))
    return Table("heterophilous", "Table 2: heterophilous graphs", panels)


def backbones() -> Table:
    """Table 3."""
    spec = _paper()["backbones"]
    columns = _columns(spec["columns"])
    numbers = _numbers(spec["rows"], [c.heading for c in columns])
    wanted = ["gcn", "gat", "gcnii", *_own(BACKBONES)]
    rows = [f"{b}{s}" for b in wanted for s in ("", "-none", "-l2b", "-l2u") if s or b in RIVALS]
    pairs = [(f"{b}-{s}", f"{b}-none") for b in wanted for s in ("l2b", "l2u")]
    panel = Panel("public split", columns, rows, numbers, pairs=pairs)
    return Table("backbones", "Table 3: other backbones", [panel])


def depth() -> Table:
    """Table 4: every method at the settings chosen for Table 1, but for the depth."""
    spec = _paper()["depth"]
    panels = []
    for dataset in ("cora", "citeseer", "pubmed"):
        columns = [
            Column(str(steps), dataset, PUBLIC, {"max_steps": steps}) for steps in spec["columns"]
        ]
        headings = [c.heading for c in columns]
        rows = _rows(spec[dataset])
        empty = {
            (m, h)
            for m, entries in spec[dataset].items()
            for h, e in zip(headings, entries, strict=True)
            if e == "-"
        }
        numbers = _numbers(spec[dataset], headings)
        title = f"{dataset_info(dataset).title}, public split, number of steps"
        panels.append(Panel(title, columns, rows, numbers, frozenset(empty), APPNP_PAIRS))
    return Table("depth", "Table 4: depth", panels)


def l2p() -> Table:
    """Table 5."""
    spec = _paper()["l2p"]
    columns = _columns(spec["columns"])
    numbers = _numbers(spec["rows"], [c.heading for c in columns])
    panel = Panel("the paper's splits", columns, _rows(spec["rows"]), numbers, pairs=APPNP_PAIRS)
    return Table("l2p", "Table 5: L2P", [panel])


def beyond() -> Table:
    """Not in the paper: every method with consistency on all nodes, beside itself without."""
    columns = _columns(["cora", "citeseer", "pubmed"])
    rows = [name for method in CONSISTENT for name in (method, f"{method}+c")]
    pairs = [("l2b+c", "appnp-none+c"), ("l2u+c", "appnp-none+c"), ("l2b+c", "l2b")]
    # Thirty-two layers, all nodes, two forwards, forty-eight runs: too much for one graph.
    empty = frozenset({("gcnii+c", dataset_info("pubmed").title)})
    panel = Panel("public split", columns, rows, {}, empty, pairs)
    return Table("beyond", "Beyond the paper: consistency between dropout forwards", [panel])


EIGHT = (
    *("cora", "citeseer", "pubmed"),
    *("chameleon", "cornell-legacy", "texas", "wisconsin", "actor"),
)
"""The paper's graphs."""


def recipes() -> Table:
    """Not in the paper: the searches from which the recipes are chosen, on its eight graphs."""
    columns = _columns(EIGHT)
    rows = [row for name in OURS for row in searches_behind(name)]
    citation = {c.heading for c in columns if c.split == PUBLIC}
    empty = {
        (row, c.heading)
        for row in rows
        for c in columns
        if find_method(row).for_few_labels and c.heading not in citation
    }
    patient = [replace(c, changes={"patience": 200}) for c in columns]
    panels = [
        Panel(title, chosen, rows, {}, frozenset(empty), studied=True)
        for title, chosen in (
            ("the paper's splits", columns),
            ("the same with a patience of 200", patient),
        )
    ]
    return Table("recipes", "The searches behind the recipes", panels)


_CHOICES: Mapping[str, Mapping[str, Any]] = {
    "as chosen": {},
    "k/L and change seen": {"use_progress": True},
    "the same, ε = 0.7": {"use_progress": True, "epsilon": 0.7},
    "predictions seen": {"controller_inputs": "predictions"},
    "selection smoothed": {"selection": "smoothed"},
    "selection by loss": {"selection": "loss"},
}
_AGREEMENTS: Mapping[str, Mapping[str, Any]] = {
    "agreement at full depth": {},
    "of selected steps": {"consistency_on": "selected"},
    "by priority": {"consistency_on": "priority"},
    "k/L and change seen": {"use_progress": True},
}


def choices() -> Table:
    """Not in the paper: what it leaves open, one change at a time from the chosen settings."""
    panels = []
    for dataset in EIGHT:
        title = f"{dataset_info(dataset).title}, {paper_split(dataset)}"
        columns = _changed(dataset, _CHOICES)
        panels.append(Panel(title, columns, ("l2b", "l2u"), {}, studied=True))
        if paper_split(dataset) == PUBLIC:
            title, columns = f"{title}, with consistency", _changed(dataset, _AGREEMENTS)
            panels.append(Panel(title, columns, ("l2b+c", "l2u+c"), {}, studied=True))
    return Table("choices", "Choices that the paper leaves open", panels)


def _changed(dataset: str, changes: Mapping[str, Mapping[str, Any]]) -> list[Column]:
    split = paper_split(dataset)
    return [Column(heading, dataset, split, change) for heading, change in changes.items()]


TABLES = {
    "homophilous": homophilous,
    "heterophilous": heterophilous,
    "backbones": backbones,
    "depth": depth,
    "l2p": l2p,
    "beyond": beyond,
    "recipes": recipes,
    "choices": choices,
}
