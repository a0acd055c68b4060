"""One large graph on several processes: each holds a part of the nodes, and all train as one.

Started by ``torchrun -m ppro train …``, or by your own program::

    with joined() as ranks:
        result = fit_shared(graph, splits, settings, ranks)

The losses, gradients, steps and predictions are those of one process, to float tolerance.
``fitting`` trains, with the usual trainer, once ``agreement`` has seen that all ranks are about to
train the same; ``group`` speaks to other ranks, ``halo`` exchanges rows
with them; ``partition`` gives nodes to ranks, ``shard`` is what a rank holds: ``adjacency``,
``features``, ``local_rows`` and ``measures``. ``gathering`` brings predictions together,
``resuming`` and ``interrupts`` are checkpoints and Ctrl-C of all ranks.
"""

from ppro.distributed.fitting import SharedTraining, fit_shared
from ppro.distributed.group import RankGroup, joined
from ppro.distributed.partition import Partitioning, owners

__all__ = ["Partitioning", "RankGroup", "SharedTraining", "fit_shared", "joined", "owners"]
