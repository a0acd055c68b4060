"""One large graph on several processes: each holds a part of the nodes, and all train as one.

Started by ``torchrun -m ppro train …``, or by your own program::

    with joined() as ranks:
        result = fit_shared(graph, splits, settings, ranks)

The losses, gradients, steps and predictions are those of one process, to float tolerance.
"""

from ppro.distributed.fitting import SharedTraining, fit_shared
from ppro.distributed.group import RankGroup, joined
from ppro.distributed.partition import Partitioning, owners

__all__ = ["Partitioning", "RankGroup", "SharedTraining", "fit_shared", "joined", "owners"]
