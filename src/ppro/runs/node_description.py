"""What a fitted model says of every node of a graph, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppro.graph.core import Graph
from ppro.nn.network import Network
from ppro.settings.settings import Settings
from ppro.training.assembly import prepare_inputs
from ppro.training.fit import outcome_of_all
from ppro.training.threads import use_threads, worth_cores


@dataclass(frozen=True, eq=False)
class NodeDescription:
    """What a fitted estimator says of every node of a graph.

    Shapes: probabilities ``[n, c]``, steps and priorities ``[n]``, embedding ``[n, d]``.
    """

    probabilities: NDArray[np.float32]
    steps: NDArray[np.int64]
    priorities: NDArray[np.float32]
    embedding: NDArray[np.float32]


def describe_graph(
    model: Network, graph: Graph, settings: Sequence[Settings], run: int, threads: int | None
) -> NodeDescription:
    """Return what one run of a model says of a graph.

    Args:
        settings: those of every run.
        run: the run that is asked.
        threads: CPU cores to use; chosen from the work when None.
    """
    # As in training: another number of threads may add in another order.
    use_threads(threads or worth_cores(graph, settings[0], len(settings)))
    device = next(model.parameters()).device
    inputs = prepare_inputs(graph, settings[0], device)
    outcome = outcome_of_all(model, inputs, graph, len(settings))
    return NodeDescription(
        outcome.logits.softmax(-1)[run].cpu().numpy(),
        outcome.steps[run].cpu().numpy(),
        outcome.weights[run].cpu().numpy(),
        outcome.embedding[run].cpu().numpy(),
    )
