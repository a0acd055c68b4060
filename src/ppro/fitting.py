"""Train a batch of runs on a graph and measure them: the one path that everything above takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.assembly import all_rows, build_model, prepare_inputs, rows_from_masks
from ppro.config import Settings
from ppro.data.splits import Splits
from ppro.graph import Graph
from ppro.model import Inputs, PPro
from ppro.threads import thread_count, use_threads
from ppro.training import History, OnEpoch, Trainer


@dataclass(frozen=True, eq=False)
class NodeTable:
    """What every run says of every node.

    Shapes: probabilities ``[R, n, c]``; steps and priorities ``[R, n]``.
    """

    probabilities: Tensor
    steps: Tensor
    priorities: Tensor


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained batch of runs and what it reached; accuracies in percent, shape ``[R]``."""

    model: PPro
    settings: tuple[Settings, ...]
    history: History
    nodes: NodeTable
    val_accuracy: Tensor
    test_accuracy: Tensor
    seconds: float
    threads: int

    @property
    def best_run(self) -> int:
        """The run with the highest validation accuracy."""
        return int(self.val_accuracy.argmax())


@torch.no_grad()
def describe_nodes(model: PPro, inputs: Inputs, graph: Graph, runs: int) -> NodeTable:
    """Class probabilities, step and priority of every node, without dropout."""
    outcome = model(inputs, all_rows(graph, runs, inputs.influence.device))
    return NodeTable(outcome.logits.softmax(-1).cpu(), outcome.steps.cpu(), outcome.weights.cpu())


def accuracy(nodes: NodeTable, labels: Tensor, masks: Tensor) -> Tensor:
    """Accuracy in percent of each run on its own nodes; NaN where it has none. Shape ``[R]``."""
    hits = (nodes.probabilities.argmax(-1) == labels) & masks
    return 100 * hits.sum(1) / masks.sum(1)


def fit(
    graph: Graph,
    splits: Splits,
    settings: Sequence[Settings],
    *,
    device: torch.device | None = None,
    threads: int | None = None,
    on_epoch: OnEpoch | None = None,
) -> Fit:
    """Train one run for each of the settings, all together.

    Test labels are read once, after training, in the state that validation chose.

    Args:
        threads: CPU threads; chosen from the work when None.
    """
    device = device or torch.device("cpu")
    threads = use_threads(threads or thread_count(graph, settings[0], len(settings)))
    inputs = prepare_inputs(graph, settings[0], device)
    model = build_model(graph.num_features, graph.num_classes, settings, device)
    train = rows_from_masks(splits.train, graph.labels, device)
    val = rows_from_masks(splits.val, graph.labels, device)
    start = time.perf_counter()
    history = Trainer(model, inputs, train, val, settings).run(on_epoch)
    seconds = time.perf_counter() - start
    nodes = describe_nodes(model, inputs, graph, len(settings))
    return Fit(
        model,
        tuple(settings),
        history,
        nodes,
        accuracy(nodes, graph.labels, splits.val),
        accuracy(nodes, graph.labels, splits.test),
        seconds,
        threads,
    )
