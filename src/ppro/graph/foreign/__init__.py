"""Graphs of other libraries, taken apart for :mod:`ppro.graph.convert`.

``pyg`` takes apart what PyTorch Geometric calls Data, ``nx`` graphs of NetworkX, ``matrices`` pairs
of an adjacency matrix and features; all of them return ``parts``. No library is imported for it.
"""

from __future__ import annotations

from typing import Any

from ppro.errors import DataError
from ppro.graph.foreign.matrices import from_matrices
from ppro.graph.foreign.nx import from_networkx, is_networkx
from ppro.graph.foreign.parts import Parts
from ppro.graph.foreign.pyg import from_data

__all__ = ["Parts", "from_networkx", "is_networkx", "parts_of"]


def parts_of(source: Any) -> Parts:
    """The parts of a graph of another library.

    Raises:
        DataError: it is no graph that PPro knows.
    """
    if isinstance(source, tuple | list) and len(source) == 2:
        return from_matrices(*source)
    if is_networkx(source):
        return from_networkx(source)
    if hasattr(source, "edge_index"):
        return from_data(source)
    raise DataError(
        f"{type(source).__name__} is no graph that PPro knows; give a ppro.Graph, a Data of "
        "PyTorch Geometric, a NetworkX graph or a pair (adjacency, features)"
    )
