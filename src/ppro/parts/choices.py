"""Alternatives that are words: how features and edges are normalised, what makes a state better."""

from typing import Literal

FeatureNorm = Literal["row", "unit", "none"]
"""row: the absolute values of a row sum to one; none: features as given."""
Normalisation = Literal["symmetric", "row"]
"""Of the adjacency matrix: D^-1/2 A D^-1/2, or D^-1 A."""
Selection = Literal["score", "smoothed", "loss", "last"]
"""What makes a state better: the metric on validation nodes, its moving average, the loss, or to
come later."""
WeightForm = Literal["softplus", "tanh"]
"""How the weight head keeps w positive."""
Kind = Literal["homophilous", "heterophilous"]
"""Whether neighbours tend to share their class: a method has a search space for either kind."""
