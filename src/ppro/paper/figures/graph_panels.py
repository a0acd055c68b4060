"""Panels that show a graph: all of it shaded, or the surroundings of one node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ppro.paper.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHAPES = (
    {"marker": "o", "color": "#17457f"},
    {"marker": "s", "color": "#d9822b"},
    {"marker": "^", "color": "#f3d27a"},
    {"marker": "D", "color": "#5a9a6e"},
    {"marker": "v", "color": "#c9c9c9"},
    {"marker": "P", "color": "#8d4d8b"},
    {"marker": "X", "color": "#000000"},
)


def within_two_hops(graph: nx.Graph, node: int) -> dict[int, int]:
    """Return the nodes within two hops, and how far each is."""
    found: dict[int, int] = dict(nx.single_source_shortest_path_length(graph, node, cutoff=2))
    return found


def canvas() -> tuple[Figure, Axes, list[Axes], Axes]:
    """The figure, the place of the graph, those of the case studies, and that of the legend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(style.WIDE, 5.0), layout="constrained")
    places = figure.subplot_mosaic(
        [["a", key] for key in "bcde"], width_ratios=[1.9, 1], height_ratios=[1, 1, 1, 0.15]
    )
    for panel in places.values():
        panel.set_axis_off()
    return figure, places["a"], [places[key] for key in "bcd"], places["e"]


def _lines(panel: Axes, graph: nx.Graph, place: dict[int, Sequence[float]], width: float) -> None:
    from matplotlib.collections import LineCollection

    lines = [(place[a], place[b]) for a, b in graph.edges]
    panel.add_collection(LineCollection(lines, colors="#b5b5b5", linewidths=width, zorder=1))


def shaded(
    figure: Figure, panel: Axes, graph: nx.Graph, priorities: NDArray[Any], chosen: Sequence[int]
) -> None:
    """Draw a graph: the darker a node, the higher its priority; some nodes are marked."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    place = nx.kamada_kawai_layout(graph)
    _lines(panel, graph, place, 0.5)
    nodes = sorted(graph)
    spots = np.array([place[node] for node in nodes])
    sizes = [14 + 9 * graph.degree[node] ** 0.75 for node in nodes]
    low, high = np.quantile(priorities, [0.02, 0.98])
    shades = panel.scatter(
        spots[:, 0],
        spots[:, 1],
        s=sizes,
        c=priorities,
        cmap=ListedColormap(colormaps["Greys"](np.linspace(0.1, 1.0, 256))),
        vmin=low,
        vmax=high,
        edgecolors="#444444",
        linewidths=0.5,
        zorder=2,
    )
    for number, node in enumerate(chosen, start=1):
        x, y = place[node]
        panel.scatter(x, y, s=150, facecolors="none", edgecolors=style.ORANGE, linewidths=1.8)
        panel.annotate(f"v{number}", place[node], (6, 6), textcoords="offset points", weight="bold")
    panel.set_title("(a) priorities")
    bar = figure.colorbar(
        shades, ax=panel, orientation="horizontal", shrink=0.6, pad=0.01, extend="both"
    )
    bar.set_label("priority w")


def neighbourhood(panel: Axes, graph: nx.Graph, labels: NDArray[Any], centre: int) -> None:
    """Draw what lies within two hops of a node; marks stand for labels."""
    hops = within_two_hops(graph, centre)
    around = graph.subgraph(hops)
    rings = [[n for n in sorted(around) if hops[n] == k] for k in range(3)]
    place = nx.kamada_kawai_layout(around, pos=nx.shell_layout(around, [r for r in rings if r]))
    _lines(panel, around, place, 0.6)
    for node in around:
        near, (x, y) = hops[node] < 2, place[node]
        panel.scatter(
            x,
            y,
            s=90 if node == centre else 32 if near else 14,
            linewidths=2.0 if node == centre else 0.5,
            edgecolors="black",
            zorder=3 if near else 2,
            **_shape(int(labels[node])),
        )
    panel.margins(0.1)


def _shape(label: int) -> dict[str, Any]:
    return dict(_SHAPES[label % len(_SHAPES)])


def label_legend(panel: Axes, labels: NDArray[Any]) -> None:
    """Say which mark stands for which label."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="none", markeredgecolor="black", label=str(c), **_shape(c))
        for c in sorted(set(labels.tolist()))
    ]
    panel.legend(
        handles=handles,
        title="label",
        loc="center",
        ncols=len(handles),
        handletextpad=0,
        columnspacing=1,
    )
