"""Prioritized Propagation in Graph Neural Networks (PPro).

Three parts learn together: a backbone, a propagation controller that gives every node its own
number of propagation steps, and a weight controller that gives every node a priority in the loss.
"""

from ppro.config import Recipe, Settings
from ppro.data import Splits, load_graph, make_splits
from ppro.errors import DataError, PProError, RunError, SettingsError
from ppro.fitting import Fit, fit
from ppro.graph import Graph
from ppro.model import PPro

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "Fit",
    "Graph",
    "PPro",
    "PProError",
    "Recipe",
    "RunError",
    "Settings",
    "SettingsError",
    "Splits",
    "fit",
    "load_graph",
    "make_splits",
]
