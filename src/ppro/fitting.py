"""Train a batch of runs on a graph and measure them: the one path that everything above takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from ppro.allocator import keep_freed_memory
from ppro.assembly import (
    OwnBackbone,
    all_rows,
    build_model,
    prepare_inputs,
    rows_from_masks,
    settings_for,
)
from ppro.config import Settings
from ppro.data.splits import Splits
from ppro.graph import Graph
from ppro.network import Inputs, Network
from ppro.stopping import History
from ppro.threads import share_out, use_threads, worth_cores
from ppro.training import OnEpoch, Trainer
from ppro.workers import train_side_by_side


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

    model: Network
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
def describe_nodes(model: Network, inputs: Inputs, graph: Graph, runs: int) -> NodeTable:
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
    backbone: OwnBackbone | None = None,
    device: torch.device | None = None,
    threads: int | None = None,
    on_epoch: OnEpoch | None = None,
) -> Fit:
    """Train one run for each of the settings, all together.

    Test labels are read once, after training, in the state that validation chose.

    Args:
        backbone: your own instead of the one that the settings name: a class of backbones, a
            BasicGNN of PyTorch Geometric, or a list of its convolutions. The last two decide the
            number of steps too.
        threads: CPU cores to use; chosen from the work when None.
    """
    settings = settings_for(backbone, settings)
    device = device or torch.device("cpu")
    if device.type == "cpu":
        keep_freed_memory()
    cores = threads or worth_cores(graph, settings[0], len(settings))
    use_threads(cores)
    inputs = prepare_inputs(graph, settings[0], device)
    start = time.perf_counter()
    model, history = _train(graph, inputs, splits, settings, backbone, cores, on_epoch)
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
        cores,
    )


def _train(
    graph: Graph,
    inputs: Inputs,
    splits: Splits,
    settings: Sequence[Settings],
    backbone: OwnBackbone | None,
    cores: int,
    on_epoch: OnEpoch | None,
) -> tuple[Network, History]:
    """Train the runs as one program, or on a CPU with cores to spare as one for each worker."""
    device = inputs.influence.device
    workers, threads = share_out(cores, len(settings)) if device.type == "cpu" else (1, 1)

    def build(part: slice) -> Network:
        sizes = graph.num_features, graph.num_classes
        return build_model(*sizes, settings[part], device, backbone)

    def trainer(part: slice, of: Network) -> Trainer:
        train, val = (
            rows_from_masks(masks[part], graph.labels, device)
            for masks in (splits.train, splits.val)
        )
        return Trainer(of, inputs, train, val, settings[part])

    model = build(slice(None))
    if workers == 1:
        return model, trainer(slice(None), model).run(on_epoch)
    bounds = [len(settings) * w // workers for w in range(workers + 1)]
    trainers = []
    for begin, end in pairwise(bounds):
        part = slice(begin, end)
        trainers.append(trainer(part, build(part)))
    history = train_side_by_side(trainers, threads, on_epoch)
    _gather(model, [t.model for t in trainers])
    return model, history


def _gather(model: Network, parts: Sequence[Network]) -> None:
    """Put the runs of several models into one."""
    states = [dict(part.named_parameters()) for part in parts]
    for name, parameter in model.named_parameters():
        parameter.data = torch.cat([state[name].detach() for state in states])
