"""The paper's figures, and ours, drawn from result files and nothing else.

``base`` says what a figure is; ``ablation``, ``convergence``, ``correlations``, ``depth``,
``personal``, ``planted``, ``priority``, ``relations`` and ``sensitivity`` are one each;
``graph_panels`` and ``style`` draw, ``render`` writes the files. No figure trains anything: it
names the cells that it needs.
"""

from ppro.paper.figures.ablation import ABLATION
from ppro.paper.figures.base import Drawing, FigureSpec
from ppro.paper.figures.convergence import CONVERGENCE
from ppro.paper.figures.correlations import CORRELATIONS
from ppro.paper.figures.depth import DEPTH
from ppro.paper.figures.personal import PERSONAL
from ppro.paper.figures.planted import PLANTED
from ppro.paper.figures.priority import PRIORITY
from ppro.paper.figures.relations import RELATIONS
from ppro.paper.figures.sensitivity import SENSITIVITY

__all__ = ["FIGURES", "Drawing", "FigureSpec"]

FIGURES: dict[str, FigureSpec] = {
    spec.name: spec
    for spec in (
        *(PLANTED, PERSONAL, ABLATION, CONVERGENCE, PRIORITY),
        *(SENSITIVITY, DEPTH, CORRELATIONS, RELATIONS),
    )
}
