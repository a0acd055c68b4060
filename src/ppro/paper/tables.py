"""The paper's tables: which cells they have, and what the paper prints in them."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from ppro.data import dataset_info
from ppro.data.names import GEOM_GCN, PUBLIC, RANDOM
from ppro.paper.panels import Column, Pairs, Panel, PaperNumber, Table
from ppro.parts import BACKBONES, RIVALS, STRATEGIES, Registry
from ppro.search import offers
from ppro.search.methods import find_method
from ppro.search.offers import Offer

OURS = ("appnp-none", "l2b", "l2u")
"""PPro and its backbone, from whose searches the recipes are made."""
CONSISTENT = ("mlp", "gcn", "appnp", "gcnii", "gprgnn", *OURS)
"""The methods that are measured with consistency too."""
FADING = "appnp-none+f"
"""The backbone alone, whose labels fade beside consistency as under the paper's priorities."""
APPNP_PAIRS = (("l2b", "appnp-none"), ("l2u", "appnp-none"))
_DATASETS_BESIDE = {"cornell-legacy": "cornell", "chameleon": "chameleon-deduplicated"}


@cache
def _paper() -> dict[str, Any]:
    text = (files(__package__) / "paper.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _numbers(
    rows: Mapping[str, Sequence[Any]], headings: Sequence[str]
) -> dict[tuple[str, str], PaperNumber]:
    """Return the paper's numbers by method and heading."""
    return {
        (method, heading): PaperNumber(*(entry if isinstance(entry, list) else [entry]))
        for method, entries in rows.items()
        for heading, entry in zip(headings, entries, strict=True)
        if entry != "-"
    }


def paper_split(dataset: str) -> str:
    """Return the split of the paper."""
    return PUBLIC if PUBLIC in dataset_info(dataset).splits else RANDOM


def _columns(datasets: Sequence[str], split: str | None = None) -> list[Column]:
    return [Column(dataset_info(d).title, d, split or paper_split(d)) for d in datasets]


def _rows(paper: Mapping[str, Any], *more: str) -> list[str]:
    """Return the paper's methods, those it only cites, PPro with its backbone, and the user's."""
    return [*(m for m in paper if m not in OURS), *more, *OURS, *_own(RIVALS), *_own(STRATEGIES)]


def _own(registry: Registry) -> list[str]:
    """Return the parts of a user's script; a network has a row if it can be searched."""
    return [
        name
        for name, part in registry.items()
        if part.__module__.split(".")[0] != "ppro" and getattr(part, "spaces", True)
    ]


def _panel(title: str, name: str, rows: Sequence[str], pairs: Pairs) -> Panel:
    """Return a panel with the columns and numbers of a table of the paper."""
    spec = _paper()[name]
    columns = _columns(spec["columns"])
    numbers = _numbers(spec["rows"], [column.heading for column in columns])
    return Panel(title, columns, rows, numbers, pairs=pairs)


def searches_behind(name: str) -> tuple[str, ...]:
    """Return the searches of the backbone alone or of a strategy that recipes are made from."""
    strategy = find_method(name).settings["strategy"]
    return name, f"{name}-wide", f"{name}+c", f"{name}+c4", f"grand-{strategy}"


def homophilous() -> Table:
    """Table 1."""
    rows = _rows({"mlp": None, **_paper()["homophilous"]["rows"]}, "gprgnn", "dagnn", "h2gcn")
    panel = _panel("public split", "homophilous", rows, APPNP_PAIRS)
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


_BACKBONES = {"gcn": "gcn-scores", "gat": "gat-scores", "gcnii": "gcnii"}
"""The networks of Table 3, and the backbones that lose nothing against them."""
_ABOUT_BACKBONES = (
    "GCN, GAT and GCNII as published, the backbone that PPro has of each alone, and PPro on it. "
    "GCN and GAT as backbones carry class scores: one step is the original, further steps only "
    "propagate. A strategy has at least four steps, the backbone alone may take one; GCNII has the "
    "depths and widths of its original. Rival, backbone and strategies are offered the same "
    "dropouts, decays and learning rates; a strategy its controllers besides, as the paper teaches "
    "them or comparing. Rivals are searched anew here: GAT may have eight output heads, as its "
    "original on Pubmed, and GCNII a width of 256."
)


def backbones() -> Table:
    """Table 3."""
    own = _own(BACKBONES)
    rows, pairs = list[str](), list[tuple[str, str]]()
    for rival, backbone in {**_BACKBONES, **{name: name for name in own}}.items():
        rows += [rival] if rival in RIVALS else []
        rows += [f"{backbone}-{strategy}" for strategy in ("none", "l2b", "l2u")]
        pairs += [(f"{backbone}-{s}", f"{backbone}-none") for s in ("l2b", "l2u")]
        pairs += [(f"{backbone}-none", rival)] if rival in RIVALS else []
    panel = _panel("public split", "backbones", rows, pairs)
    columns = [replace(column, offer=Offer(offers.BACKBONES)) for column in panel.columns]
    panels = [replace(panel, columns=columns)]
    return Table("backbones", "Table 3: other backbones", panels, _ABOUT_BACKBONES)


_ABOUT_DEPTH = (
    "Every method at every depth has a search of its own with the same number of configurations. "
    "JKNet (Drop) may drop a tenth of the edges or more; GCN and JKNet have plain layers, without "
    "residual connections or normalisation, as their originals."
)


def depth() -> Table:
    """Table 4: every method with settings that were searched for each depth."""
    spec = _paper()["depth"]
    panels = []
    for dataset in ("cora", "citeseer", "pubmed"):
        columns = [
            Column(str(steps), dataset, PUBLIC, offer=Offer(offers.DEPTH, steps))
            for steps in spec["columns"]
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
    return Table("depth", "Table 4: depth", panels, _ABOUT_DEPTH)


def l2p() -> Table:
    """Table 5."""
    panel = _panel("the paper's splits", "l2p", _rows(_paper()["l2p"]["rows"]), APPNP_PAIRS)
    return Table("l2p", "Table 5: L2P", [panel])


def beyond() -> Table:
    """Not in the paper: every method with consistency on all nodes, beside itself without."""
    columns = _columns(["cora", "citeseer", "pubmed"])
    rows = [name for method in CONSISTENT for name in (method, f"{method}+c")]
    rows.insert(rows.index("appnp-none+c") + 1, FADING)
    alone = ("appnp-none+c", FADING)
    pairs = [(f"{strategy}+c", one) for one in alone for strategy in ("l2b", "l2u")]
    pairs += [(FADING, "appnp-none+c"), ("l2b+c", "l2b")]
    # Thirty-two layers, all nodes, two forwards, forty-eight runs: too much for one graph.
    empty = frozenset({("gcnii+c", dataset_info("pubmed").title)})
    panel = Panel("public split", columns, rows, {}, empty, pairs)
    return Table("beyond", "Beyond the paper: consistency between dropout forwards", [panel])


_ABOUT_DESIGN = (
    "The backbone alone, L2B and L2U as the paper has them: APPNP of class scores or hidden "
    "features, controllers as it teaches them, no consistency. The recipes `…-paper` are the best "
    "of these and of the other searches of this design, by validation accuracy."
)
_ABOUT_ACTOR = (
    "Dropout of the features apart from that of hidden layers and of what propagates, a first "
    "layer scaled to its input, a linear skip from h⁽⁰⁾ (`concat`), decay of all weights."
)


def design() -> Table:
    """Not a table of the paper: its own design on its graphs, searched for itself."""
    columns = [replace(column, offer=Offer(offers.DESIGN)) for column in _columns(EIGHT)]
    numbers: dict[tuple[str, str], PaperNumber] = {}
    for name in ("l2p", "heterophilous", "homophilous"):
        spec = _paper()[name]
        rows = {("appnp-none" if m == "appnp" else m): v for m, v in spec["rows"].items()}
        found = _numbers(rows, [dataset_info(d).title for d in spec["columns"]])
        numbers |= {place: number for place, number in found.items() if place[0] in OURS}
    panel = Panel("the paper's splits", columns, OURS, numbers, pairs=APPNP_PAIRS)
    return Table("design", "The paper's design, searched for itself", [panel], _ABOUT_DESIGN)


def actor() -> Table:
    """Not in the paper: Actor with what suits its features."""
    (column,) = _columns(["actor"])
    spec = _paper()["l2p"]
    numbers = _numbers(spec["rows"], [dataset_info(d).title for d in spec["columns"]])
    shown = {(m, h): n for (m, h), n in numbers.items() if m in OURS and h == column.heading}
    columns = [replace(column, offer=Offer(offers.ACTOR))]
    panel = Panel("the paper's split", columns, ("mlp", *OURS), shown, pairs=APPNP_PAIRS)
    return Table("actor", "Actor, with options for its features", [panel], _ABOUT_ACTOR)


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
    "design": design,
    "actor": actor,
    "recipes": recipes,
    "choices": choices,
}
