"""Nodes by the ids that a user writes."""

from __future__ import annotations

from collections.abc import Sequence

from ppro.errors import DataError
from ppro.graph.core import Graph
from ppro.parts import nearest

COMPARED = 20_000
"""Up to this many ids the nearest to a wrong one is looked for."""
LONGEST = 60
"""Characters that a message shows of an id."""


def numbers_of(graph: Graph, ids: Sequence[str]) -> list[int]:
    """Return the numbers of the nodes with these ids, in their order.

    The ids of a graph without ids of its own are the numbers from 0.
    """
    numbers = _known(graph, set(ids))
    unknown = [name for name in ids if name not in numbers]
    if unknown:
        first = _shown(unknown[0])
        told = f"{graph.name}: no node has the id {first!r}"
        if len(ids) > 1:
            few = f"{len(unknown):,} of {len(ids):,}"
            told = f"{few} ids are of no node of {graph.name}, the first {first!r}"
        raise DataError(f"{told}; {_remedy(graph, unknown[0])}")
    return [numbers[name] for name in ids]


def _known(graph: Graph, ids: set[str]) -> dict[str, int]:
    if graph.node_ids is None:
        found = {name: int(name) for name in ids if name.isascii() and name.isdigit()}
        return {name: number for name, number in found.items() if number < graph.num_nodes}
    return {name: number for number, name in enumerate(graph.node_ids) if name in ids}


def _remedy(graph: Graph, wrong: str) -> str:
    if graph.node_ids is None:
        return f"ids are 0 to {graph.num_nodes - 1}"
    near = graph.node_ids if graph.num_nodes <= COMPARED else ()
    return nearest(wrong, near, f"ids are those of the nodes, such as {graph.node_ids[0]!r}")


def _shown(text: str) -> str:
    clean = "".join(sign if sign.isprintable() else "?" for sign in text)
    return clean if len(clean) <= LONGEST else clean[: LONGEST - 1] + "…"
