"""Train a batch of runs on a graph and measure them: the one path that everything above takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

from ppro.compute.allocator import keep_freed_memory
from ppro.compute.device import find_device
from ppro.compute.precision import as_by_default, in_float32
from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.graph.direction import check_direction
from ppro.nn.comparing.network import ComparingNetwork
from ppro.nn.network import Inputs, Network, Outcome
from ppro.parts import METRICS
from ppro.settings.settings import Settings
from ppro.training.arguments import check_arguments
from ppro.training.assembly import (
    OwnBackbone,
    all_rows,
    build_model,
    prepare_inputs,
    rows_from_masks,
    settings_for,
)
from ppro.training.checkpoint import Checkpoint, Checkpointing, Keeper
from ppro.training.class_weights import ClassWeight, class_weights, weighted, weights_of_settings
from ppro.training.comparing import ComparingTrainer
from ppro.training.divergence import Diverged, check_learned
from ppro.training.fingerprint import fingerprint
from ppro.training.room import check_room
from ppro.training.stopping import History
from ppro.training.threads import share_out, use_threads, worth_cores
from ppro.training.trainer import OnEpoch, Trainer
from ppro.training.workers import train_side_by_side


@dataclass(frozen=True, eq=False)
class NodeTable:
    """What every run says of every node.

    Shapes: probabilities ``[R, n, c]``; steps and priorities ``[R, n]``.
    """

    probabilities: Tensor
    steps: Tensor
    priorities: Tensor

    @classmethod
    def of(cls, outcome: Outcome) -> NodeTable:
        """Return the table of a pass over some nodes, on the CPU."""
        chances = outcome.logits.softmax(-1)
        return cls(chances.cpu(), outcome.steps.cpu(), outcome.weights.cpu())


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained batch of runs and what it reached.

    Accuracies are in percent, scores as the metric of the settings measures them; shape ``[R]``.

    Args:
        embedding: of every node at its step, in the best run; None where several processes
            trained together. Shape ``[n, d]``.
    """

    model: Network
    settings: tuple[Settings, ...]
    history: History
    nodes: NodeTable
    val_accuracy: Tensor
    test_accuracy: Tensor
    val_score: Tensor
    test_score: Tensor
    seconds: float
    threads: int
    embedding: Tensor | None = None

    @property
    def best_run(self) -> int:
        """Return the run with the best validation score."""
        return best_of(self.val_score, self.settings[0].training.metric)


def best_of(scores: Tensor, metric: str = "accuracy") -> int:
    """Return the run with the best score, the first of several; a score may be NaN.

    Args:
        metric: what the scores are of; it says whether more is better.
    """
    sign = -1 if METRICS.get(metric).lower_is_better else 1
    return int((sign * scores).nan_to_num(nan=-torch.inf).argmax())


@torch.no_grad()
@in_float32()
def outcome_of_all(model: Network, inputs: Inputs, graph: Graph, runs: int) -> Outcome:
    """Return what a model says of every node, without dropout."""
    outcome: Outcome = model(inputs, all_rows(graph, runs, inputs.influence.device))
    return outcome


def describe_nodes(model: Network, inputs: Inputs, graph: Graph, runs: int) -> NodeTable:
    """Return class probabilities, step and priority of every node, without dropout."""
    return NodeTable.of(outcome_of_all(model, inputs, graph, runs))


def accuracy(nodes: NodeTable, labels: Tensor, masks: Tensor) -> Tensor:
    """Return the accuracy in percent of each run on its own nodes; NaN without any. ``[R]``."""
    hits = (nodes.probabilities.argmax(-1) == labels) & masks
    return 100 * hits.sum(1) / masks.sum(1)


def measured(
    nodes: NodeTable, labels: Tensor, masks: Tensor, settings: Settings
) -> tuple[Tensor, Tensor]:
    """Return accuracy and score of each run on its own nodes. Shape ``[R]`` each.

    Args:
        labels: Shape ``[n]``.
        masks: Shape ``[R, n]``.
        settings: name the metric.
    """
    hits, metric = accuracy(nodes, labels, masks), METRICS.get(settings.training.metric)()
    if metric.is_accuracy:
        return hits, hits / 100
    found = [
        metric.of_runs(chances[None, mask], labels[None, mask], mask[None, mask])
        for chances, mask in zip(nodes.probabilities, masks, strict=True)
    ]
    return hits, torch.cat(found)


@as_by_default()
def fit(  # noqa: PLR0913 - one argument per option
    graph: Graph,
    splits: Splits,
    settings: Sequence[Settings],
    *,
    backbone: OwnBackbone | None = None,
    device: torch.device | str | None = None,
    threads: int | None = None,
    on_epoch: OnEpoch | None = None,
    class_weight: ClassWeight | None = None,
    checkpoint: Checkpointing | Path | str | None = None,
    resume: bool = False,
    diverged: Diverged = "error",
) -> Fit:
    """Train one run for each of the settings, all together.

    Test labels are read once, after training, in the state that validation chose.

    Args:
        backbone: your own instead of the one that the settings name: a class of backbones, a
            BasicGNN of PyTorch Geometric, or a list of its convolutions. The last two decide the
            number of steps too.
        threads: CPU cores to use; chosen from the work when None.
        class_weight: "balanced" or a weight for each class: what its nodes count in the losses;
            that of the settings when None.
        checkpoint: folder to save the training in every ten seconds and on Ctrl-C.
        resume: go on from the checkpoint, with as many threads as it was begun with; where there
            is none, begin. On a CPU the result is that of a training never interrupted.
        diverged: "keep" gives a run whose loss was never finite the state before its training.

    Raises:
        DataError: no graph, or the split is of another one.
        SettingsError: there are no settings, they disagree, or not one for each run of the split.
        TrainingError: the loss of a run was never finite.
    """
    check_arguments(graph, splits, settings)
    settings = settings_for(backbone, settings)
    check_direction(graph, settings[0].inputs.direction)
    device = find_device(device or "cpu")
    if device.type == "cpu":
        check_room(graph, settings, backbone)
        keep_freed_memory()
    if class_weight is None:
        class_weight = weights_of_settings(settings[0], graph.class_names)
    weights = class_weights(class_weight, graph.labels, splits.train, graph.num_classes)
    plan, saved = Checkpointing.of(checkpoint, resume), None
    with nullcontext() if plan is None else plan.alone():
        if plan is not None:
            made_of = fingerprint(graph, splits, settings, backbone, weights)
            saved = Checkpoint(plan, {**made_of, "device": device.type})
            threads = saved.threads(threads)
        cores = threads or worth_cores(graph, settings[0], len(settings))
        use_threads(cores)
        inputs = prepare_inputs(graph, settings[0], device, len(settings))
        start = time.perf_counter()
        task = Task(graph, inputs, splits, settings, backbone, weights)
        model, history = _train(task, cores, on_epoch, saved)
        seconds = time.perf_counter() - start
    if diverged == "error":
        check_learned(history, settings, graph)
    outcome = outcome_of_all(model, inputs, graph, len(settings))
    nodes = NodeTable.of(outcome)
    val, val_score = measured(nodes, graph.labels, splits.val, settings[0])
    test, test_score = measured(nodes, graph.labels, splits.test, settings[0])
    return Fit(
        model=model,
        settings=tuple(settings),
        history=history,
        nodes=nodes,
        val_accuracy=val,
        test_accuracy=test,
        val_score=val_score,
        test_score=test_score,
        seconds=seconds,
        threads=cores,
        embedding=_embedding(outcome, best_of(val_score, settings[0].training.metric)),
    )


def _embedding(outcome: Outcome, run: int) -> Tensor:
    """Return the embeddings of one run, so that those of the others can be freed."""
    found = outcome.embedding[run].cpu()
    return found if outcome.embedding.shape[0] == 1 else found.clone()


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be trained: all runs, or part of them."""

    graph: Graph
    inputs: Inputs
    splits: Splits
    settings: Sequence[Settings]
    backbone: OwnBackbone | None
    weights: Tensor | None

    @property
    def device(self) -> torch.device:
        """Return where it is trained."""
        return self.inputs.influence.device

    def model(self, part: slice) -> Network:
        """Return the untrained network of part of the runs."""
        sizes = self.graph.num_features, self.graph.num_classes
        return build_model(*sizes, self.settings[part], self.device, self.backbone)

    def trainer(self, part: slice, model: Network, keeper: Keeper | None) -> Trainer:
        """Return what trains part of the runs."""
        labels, weights = self.graph.labels, self.weights
        train = rows_from_masks(self.splits.train[part], labels, self.device)
        val = rows_from_masks(self.splits.val[part], labels, self.device)
        train = weighted(train, None if weights is None else weights[part])
        rest = self.inputs, train, val, self.settings[part], keeper
        if isinstance(model, ComparingNetwork):
            return ComparingTrainer(model, *rest)
        return Trainer(model, *rest)


def _train(
    task: Task, cores: int, on_epoch: OnEpoch | None, saved: Checkpoint | None
) -> tuple[Network, History]:
    """Train the runs as one program, or on a CPU with cores to spare as one for each worker."""
    runs, on_cpu = len(task.settings), task.device.type == "cpu"
    workers, threads = share_out(cores, runs) if on_cpu else (1, 1)
    if saved is not None:
        saved.start(workers, cores)

    def trainer(worker: int, part: slice, model: Network) -> Trainer:
        keeper = None if saved is None else saved.keeper(worker)
        made = task.trainer(part, model, keeper)
        if saved is not None and (state := saved.state(worker, task.device)) is not None:
            saved.restore(made, state)
        return made

    model = task.model(slice(None))
    if workers == 1:
        return model, trainer(0, slice(None), model).run(on_epoch)
    bounds = [runs * w // workers for w in range(workers + 1)]
    trainers = []
    for worker, (begin, end) in enumerate(pairwise(bounds)):
        part = slice(begin, end)
        trainers.append(trainer(worker, part, task.model(part)))
    history = train_side_by_side(trainers, threads, on_epoch)
    _gather(model, [t.model for t in trainers])
    return model, history


def _gather(model: Network, parts: Sequence[Network]) -> None:
    """Put the runs of several models into one."""
    states = [dict(part.named_parameters()) for part in parts]
    for name, parameter in model.named_parameters():
        parameter.data = torch.cat([state[name].detach() for state in states])
