"""Priorities and steps on a graph that can be drawn: Cornell, as the paper has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ppro.data import dataset_info
from ppro.files import markdown_table
from ppro.paper.cells import Cell
from ppro.paper.figures import graph_panels
from ppro.paper.figures.base import Drawing, FigureSpec
from ppro.paper.nodes import read_arrays
from ppro.paper.store import Store
from ppro.paper.tables import paper_split

DATASET, METHOD = "cornell-legacy", "l2b"
WANTED = {"homophilous": 1.0, "mixed": 0.5, "heterophilous": 0.0}
"""The local homophily that each case study should have."""

FEWEST, MOST = 4, 30
"""A case study has at least so many neighbours, and at most so many nodes within two hops."""

_TEXT = (
    "(a) {title} under L2B, the run with the best validation accuracy: the darker a node, the "
    "higher its priority w; the size grows with the degree. (b) to (d) The nodes whose local "
    "homophily is nearest to 1, 1/2 and 0, of those with at least {fewest} neighbours and at most "
    "{most} nodes within two hops, which are shown (ties: the larger degree, then the lower "
    "number); marks stand for labels. The rule does not look at the steps l that were learned."
)

Arrays = dict[str, NDArray[Any]]


def _cell() -> Cell:
    return Cell(DATASET, paper_split(DATASET), METHOD, keep="nodes")


def cells() -> list[Cell]:
    """The nodes of one graph."""
    return [_cell()]


def cases(graph: nx.Graph, homophily: NDArray[Any]) -> list[int]:
    """The nodes to look at closely, by their neighbourhoods alone."""
    fit = [
        node
        for node in sorted(graph)
        if graph.degree[node] >= FEWEST and len(graph_panels.within_two_hops(graph, node)) <= MOST
    ]
    found: list[int] = []
    for wanted in WANTED.values():
        left = [node for node in fit if node not in found]
        if left:
            found.append(min(left, key=lambda i: (abs(homophily[i] - wanted), -graph.degree[i], i)))
    return found


def draw(store: Store) -> Drawing | None:
    """The whole graph shaded by priority, and three neighbourhoods beside it."""
    record = store.one(_cell().place)
    if record is None:
        return None
    arrays = read_arrays(store.path(_cell().place))
    run = int(np.argmax(record["val"]))
    steps, priorities = arrays["steps"][run], arrays["priorities"][run]
    graph = nx.Graph(arrays["edges"].astype(int).T.tolist())
    graph.add_nodes_from(range(len(steps)))
    chosen = cases(graph, arrays["homophily"])
    figure, whole, parts, key = graph_panels.canvas()
    graph_panels.shaded(figure, whole, graph, priorities, chosen)
    for letter, panel, node in zip("bcd", parts, chosen, strict=False):
        graph_panels.neighbourhood(panel, graph, arrays["labels"], node)
        share = f"homophily {arrays['homophily'][node]:.2f}"
        number = chosen.index(node) + 1
        panel.set_title(f"({letter}) v{number}: l = {steps[node]}, {share}")
    graph_panels.label_legend(key, arrays["labels"])
    text = _TEXT.format(title=dataset_info(DATASET).title, fewest=FEWEST, most=MOST)
    return Drawing(figure, f"{text}\n\n{_table(arrays, steps, priorities, chosen)}")


def _table(
    arrays: Arrays, steps: NDArray[Any], priorities: NDArray[Any], chosen: Sequence[int]
) -> str:
    rows = []
    for number, (kind, node) in enumerate(zip(WANTED, chosen, strict=False), start=1):
        rank = float((priorities < priorities[node]).mean())
        rows.append(
            [
                f"v{number}, {kind}",
                str(node),
                str(int(arrays["degree"][node])),
                f"{arrays['homophily'][node]:.2f}",
                str(int(steps[node])),
                f"{priorities[node]:.3f} (above that of {rank:.0%} of the nodes)",
            ]
        )
    counts = np.bincount(steps)
    share = ", ".join(f"{k}: {count}" for k, count in enumerate(counts) if count)
    head = ["case", "node", "degree", "local homophily", "step", "priority"]
    return f"{markdown_table(head, rows)}\n\nNodes by the step that they learned: {share}."


PRIORITY = FigureSpec("priority", "Priorities and steps of single nodes", cells, draw)
