"""Prioritized Propagation in Graph Neural Networks (PPro).

Three parts learn together: a backbone, a propagation controller that gives every node its own
number of propagation steps, and a weight controller that gives every node a priority in the loss.
"""

import os
from typing import TYPE_CHECKING

from ppro.parts.lazy import lazy
from ppro.parts.version import VERSION

# Threads that wait for work must sleep: on a busy machine spinning ones keep the others from it.
# It must be said before PyTorch starts its threads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if TYPE_CHECKING:
    from ppro.data import Splits, load_graph, make_splits
    from ppro.data.files.python import read_tables
    from ppro.errors import DataError, PProError, RunError, SettingsError
    from ppro.graph.convert import as_graph
    from ppro.graph.core import Graph
    from ppro.nn.batched import PProNetwork
    from ppro.runs.estimator import PPro, PProClassifier
    from ppro.runs.saving import load
    from ppro.settings.recipe import Recipe
    from ppro.settings.settings import Settings
    from ppro.training.fit import Fit, fit

__version__ = VERSION

__all__ = [
    "DataError",
    "Fit",
    "Graph",
    "PPro",
    "PProClassifier",
    "PProError",
    "PProNetwork",
    "Recipe",
    "RunError",
    "Settings",
    "SettingsError",
    "Splits",
    "as_graph",
    "fit",
    "load",
    "load_graph",
    "make_splits",
    "read_tables",
]

__getattr__ = lazy(
    __name__,
    {
        "ppro.data": ("Splits", "load_graph", "make_splits"),
        "ppro.data.files.python": ("read_tables",),
        "ppro.errors": ("DataError", "PProError", "RunError", "SettingsError"),
        "ppro.graph.convert": ("as_graph",),
        "ppro.graph.core": ("Graph",),
        "ppro.nn.batched": ("PProNetwork",),
        "ppro.runs.estimator": ("PPro", "PProClassifier"),
        "ppro.runs.saving": ("load",),
        "ppro.settings.recipe": ("Recipe",),
        "ppro.settings.settings": ("Settings",),
        "ppro.training.fit": ("Fit", "fit"),
    },
)
"""PyTorch takes seconds to start: a public name is imported when it is first asked for."""


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
