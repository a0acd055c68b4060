"""How the cores of a CPU are shared out: runs side by side first, threads inside a product next."""

import os

import torch

from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.settings.limits import MOST_CORES
from ppro.settings.settings import Settings
from ppro.training.judges import networks_of
from ppro.training.memory import Sizes, propagated_width

WORK_PER_CORE = 2_000_000
"""Multiply-adds of one propagation step that are worth a core of their own."""
OF_FEATURES = 0.25
"""What a multiply-add of the features with the first layer counts: it comes once in a pass, and
fetches rows of a matrix that caches hold."""


def available_cores() -> int:
    """Cores this process may use; OMP_NUM_THREADS sets a smaller or larger number."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdecimal() and 0 < len(wanted) < 10 and int(wanted) > 0:
        return min(int(wanted), MOST_CORES)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worth_cores(graph: Graph, settings: Settings, runs: int) -> int:
    """Return how many cores the dearest product of a pass keeps busy, at most those there are.

    The choice depends on the work alone, not on the load, so equal trainings give equal bits.
    """
    width = propagated_width(Sizes.of(graph), settings)
    of_step = (2 * graph.num_edges + graph.num_nodes) * width
    of_features = int(OF_FEATURES * graph.filled_features * settings.network.hidden)
    work = max(of_step, of_features) * runs * networks_of(settings)
    return max(1, min(available_cores(), work // WORK_PER_CORE))


def share_out(cores: int, runs: int) -> tuple[int, int]:
    """Workers that each train some of the runs, and threads inside each worker."""
    workers = min(cores, runs)
    return workers, max(1, cores // workers)


def use_threads(count: int) -> int:
    """Let PyTorch use this many threads in the calling thread; returns the number.

    Raises:
        SettingsError: they are no whole number, or more than a system can start.
    """
    if not isinstance(count, int) or not 0 < count <= MOST_CORES:
        raise SettingsError(
            f"{count} threads: give a whole number from 1 to {MOST_CORES}, best as many as cores"
        )
    torch.set_num_threads(count)
    return count
