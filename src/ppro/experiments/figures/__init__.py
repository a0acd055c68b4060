"""The paper's figures, and ours, drawn from result files and nothing else."""

from ppro.experiments.figures.ablation import ABLATION
from ppro.experiments.figures.base import Drawing, FigureSpec
from ppro.experiments.figures.convergence import CONVERGENCE
from ppro.experiments.figures.correlations import CORRELATIONS
from ppro.experiments.figures.depth import DEPTH
from ppro.experiments.figures.priority import PRIORITY
from ppro.experiments.figures.relations import RELATIONS
from ppro.experiments.figures.sensitivity import SENSITIVITY

__all__ = ["FIGURES", "Drawing", "FigureSpec"]

FIGURES: dict[str, FigureSpec] = {
    spec.name: spec
    for spec in (ABLATION, CONVERGENCE, PRIORITY, SENSITIVITY, DEPTH, CORRELATIONS, RELATIONS)
}
