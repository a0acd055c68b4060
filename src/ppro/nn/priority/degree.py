"""Degree centrality."""

from typing import ClassVar

from torch import Tensor

from ppro.nn.priority.base import Measure
from ppro.nn.priority.edges import Edges


class Degree(Measure):
    """d_i = Σ_j A_ij (Eq. 3), as log(1 + d_i): degrees differ by orders of magnitude."""

    name: ClassVar[str] = "degree"
    title: ClassVar[str] = "degree"

    def of_graph(self, edges: Edges) -> Tensor:
        """Return log(1 + d_i)."""
        return edges.degree().log1p()
