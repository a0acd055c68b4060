"""Prioritized Propagation in Graph Neural Networks (PPro).

Three parts learn together: a backbone, a propagation controller that gives every node its own
number of propagation steps, and a weight controller that gives every node a priority in the loss.
"""

import os

# Threads that wait for work must sleep: on a busy machine spinning ones slow training down tenfold.
# It must be said before PyTorch starts its threads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

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
