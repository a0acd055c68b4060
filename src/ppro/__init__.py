"""Prioritized Propagation in Graph Neural Networks (PPro).

Three parts learn together: a backbone, a propagation controller that gives every node its own
number of propagation steps, and a weight controller that gives every node a priority in the loss.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Threads that wait for work must sleep: on a busy machine spinning ones keep the others from it.
# It must be said before PyTorch starts its threads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if TYPE_CHECKING:
    from ppro.data import Splits, load_graph, make_splits
    from ppro.errors import DataError, PProError, RunError, SettingsError
    from ppro.graph.convert import as_graph
    from ppro.graph.core import Graph
    from ppro.nn.batched import PProNetwork
    from ppro.runs.estimator import PPro, PProClassifier
    from ppro.runs.saving import load
    from ppro.settings.recipe import Recipe
    from ppro.settings.settings import Settings
    from ppro.training.fit import Fit, fit

__version__ = "0.1.0"

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
]

_HOMES = {
    "ppro.settings.settings": ("Recipe", "Settings"),
    "ppro.graph.convert": ("as_graph",),
    "ppro.data": ("Splits", "load_graph", "make_splits"),
    "ppro.errors": ("DataError", "PProError", "RunError", "SettingsError"),
    "ppro.runs.estimator": ("PPro", "PProClassifier"),
    "ppro.training.fit": ("Fit", "fit"),
    "ppro.graph.core": ("Graph",),
    "ppro.nn.batched": ("PProNetwork",),
    "ppro.runs.saving": ("load",),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: PyTorch takes seconds to start."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'ppro' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
