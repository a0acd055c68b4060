"""What plugs in: strategies, measures, judges, metrics, backbones, rivals, datasets, graphs.

``registry`` finds a part by its name: one of the package through its address, imported when it is
first asked for, or one that a user's script has defined. ``catalogue`` lists the parts of the
package, a line each; ``choices`` names the alternatives that are words and no classes; ``scripts``
runs the scripts that a user names; ``lazy`` lets a package give names that are imported when they
are first asked for; ``version`` says which PPro this is. No part itself lives here, and nothing
here imports PyTorch, so that names can be listed and checked at once.
"""

from ppro.parts.catalogue import (
    BACKBONES,
    JUDGES,
    MEASURES,
    METRICS,
    REGISTRIES,
    RIVALS,
    STRATEGIES,
)
from ppro.parts.registry import Registry, nearest

__all__ = [
    "BACKBONES",
    "JUDGES",
    "MEASURES",
    "METRICS",
    "REGISTRIES",
    "RIVALS",
    "STRATEGIES",
    "Registry",
    "nearest",
]
