"""Alternatives that are words: how features and edges are read, what makes a state better."""

from dataclasses import dataclass
from typing import Literal

FeatureNorm = Literal["row", "unit", "none"]
"""row: the absolute values of a row sum to one; unit: a row has one length; none: as given."""
Normalisation = Literal["symmetric", "row"]
"""Of the adjacency matrix: D^-1/2 A D^-1/2, or D^-1 A."""
Direction = Literal["both", "in", "out"]
"""Whom a node reads from: both ends of every edge, those that point to it, those it points to."""
Selection = Literal["score", "smoothed", "loss", "last"]
"""What makes a state better: the metric on validation nodes, its moving average, the loss, or to
come later."""
WeightForm = Literal["softplus", "tanh"]
"""How the weight head keeps w positive."""
Kind = Literal["homophilous", "heterophilous"]
"""Whether neighbours tend to share their class: a method has a search space for either kind."""


@dataclass(frozen=True)
class FeatureForm:
    """How features become what a network sees: shifted and divided, then normalised by row.

    Args:
        shift: what is taken from each column; one number for all columns, or none.
        spread: what each column is divided by, likewise.
        length: of a row under the norm "unit".
    """

    norm: FeatureNorm = "none"
    shift: tuple[float, ...] = ()
    spread: tuple[float, ...] = ()
    length: float = 1.0
