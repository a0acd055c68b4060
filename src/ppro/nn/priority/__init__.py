"""Priority of nodes (Eq. 3 to 6), one measure to a file.

``base`` says what a measure is, ``scale`` how several become comparable, ``edges`` lets a measure
of the graph alone be computed wherever the edges lie; ``degree``, ``eigenvector`` and
``heterophily`` are the paper's. Measures have no parameters and know nothing of the controllers.
"""

from ppro.nn.priority.base import Measure, influence, measures_of, titles
from ppro.nn.priority.edges import Edges, RowEdges
from ppro.nn.priority.scale import moments, standardised

__all__ = [
    "Edges",
    "Measure",
    "RowEdges",
    "influence",
    "measures_of",
    "moments",
    "standardised",
    "titles",
]
