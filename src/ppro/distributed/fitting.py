"""Train a batch of runs on one graph that several ranks hold together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ppro.compute.allocator import keep_freed_memory, return_freed_memory
from ppro.data.splits import Splits
from ppro.distributed.agreement import check_agreement, of_rank
from ppro.distributed.gathering import accuracy_over, described, gathered, score_over
from ppro.distributed.group import RankGroup, number_said
from ppro.distributed.partition import Partitioning, owners
from ppro.distributed.resuming import check_one_part, shared_state
from ppro.distributed.shard import Shard
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.nn.comparing.network import compares
from ppro.parts import BACKBONES, METRICS
from ppro.settings.settings import Settings, part_of
from ppro.training.arguments import check_arguments
from ppro.training.assembly import build_model
from ppro.training.checkpoint import Checkpoint, Checkpointing
from ppro.training.class_weights import ClassWeight, class_weights, weights_of_settings
from ppro.training.divergence import check_learned
from ppro.training.fingerprint import fingerprint
from ppro.training.fit import Fit
from ppro.training.memory import GIB, Sizes, available, estimate
from ppro.training.metrics import Metric
from ppro.training.threads import use_threads, worth_cores
from ppro.training.trainer import OnEpoch, Trainer


def fit_shared(
    graph: Graph,
    splits: Splits,
    settings: Sequence[Settings],
    ranks: RankGroup,
    *,
    on_epoch: OnEpoch | None = None,
    **options: Any,
) -> Fit | None:
    """Train one run for each of the settings, all together, on all ranks.

    Every rank calls it with the same graph, splits and settings.

    Args:
        on_epoch: called on rank 0.
        options: those of :meth:`SharedTraining.prepare`.

    Returns:
        The result on rank 0, None on the others.

    Raises:
        SettingsError: there are no settings, they disagree, or they name something that ranks
            cannot share.
        RankError: a rank has died.
    """
    return SharedTraining.prepare(graph, splits, settings, ranks, **options).run(on_epoch)


@dataclass(frozen=True, eq=False)
class SharedTraining:
    """A training that is ready on this rank; the graph that it was cut from is no longer needed.

    Args:
        weights: of each class in each run, or None. Shape ``[R, c]``.
        saved: the checkpoint, on rank 0; None on the others, and without one.
        cores: threads of this rank.
    """

    shard: Shard
    settings: Sequence[Settings]
    ranks: RankGroup
    weights: Tensor | None
    saved: Checkpoint | None
    cores: int

    @classmethod
    def prepare(
        cls,
        graph: Graph,
        splits: Splits,
        settings: Sequence[Settings],
        ranks: RankGroup,
        *,
        device: torch.device | None = None,
        threads: int | None = None,
        class_weight: ClassWeight | None = None,
        checkpoint: Checkpointing | Path | str | None = None,
        resume: bool = False,
        partition: Partitioning = "metis",
    ) -> SharedTraining:
        """Take the part of this rank out of a graph; options as of :func:`ppro.training.fit.fit`.

        Args:
            threads: CPU cores of each rank.
            checkpoint: read and written by rank 0; any number of ranks can go on from it.
            partition: how nodes are given to ranks.
        """
        check_arguments(graph, splits, settings)
        check_shareable(graph, settings)
        device = device or torch.device("cpu")
        if device.type == "cpu":
            _manage_memory(graph, settings, ranks)
        if class_weight is None:
            class_weight = weights_of_settings(settings[0], graph.class_names)
        weights = class_weights(class_weight, graph.labels, splits.train, graph.num_classes)
        more = {"device": device.type, "partition": partition}
        check_agreement(ranks, of_rank(graph, splits, settings, weights, **more))
        saved = None
        if ranks.rank == 0 and (plan := Checkpointing.of(checkpoint, resume)) is not None:
            made_of = fingerprint(graph, splits, settings, None, weights)
            saved = Checkpoint(plan, {**made_of, "device": device.type})
            check_one_part(saved)
        cores = use_threads(threads or worth_cores(graph, settings[0], len(settings)))
        owner = owners(graph, ranks, partition)
        shard = Shard.cut(graph, splits, owner, settings[0], ranks, device)
        return cls(shard, settings, ranks, weights, saved, cores)

    def run(self, on_epoch: OnEpoch | None = None) -> Fit | None:
        """Train; returns the result on rank 0, None on the others."""
        shard, ranks, runs = self.shard, self.ranks, len(self.settings)
        start = time.perf_counter()
        trainer = self._trainer()
        history = trainer.run(on_epoch if ranks.rank == 0 else None)
        seconds = time.perf_counter() - start
        check_learned(history, self.settings, None)
        own = described(trainer.model, shard, runs)
        masks = (shard.splits.val, shard.splits.test)
        val, test = (accuracy_over(own, shard, mask, ranks) for mask in masks)
        val_score, test_score = val / 100, test / 100
        metric: Metric = METRICS.get(self.settings[0].training.metric)()
        if not metric.is_accuracy:
            val_score, test_score = (score_over(own, shard, mask, ranks, metric) for mask in masks)
        nodes = gathered(own, shard, ranks)
        if nodes is None:
            return None
        settings = tuple(self.settings)
        reached = (val, test, val_score, test_score, seconds, self.cores)
        return Fit(trainer.model, settings, history, nodes, *reached)

    def _trainer(self) -> Trainer:
        """Return the trainer where the checkpoint left it, which goes on saving on rank 0."""
        trainer = shard_trainer(self.shard, self.settings, self.weights)
        if (state := shared_state(self.saved, self.ranks, self.shard.device)) is not None:
            trainer.restore(state)
        if self.saved is not None:
            # One process that resumes shares out runs by threads: one thread keeps them together.
            self.saved.start(1, self.cores if len(self.settings) == 1 else 1)
            trainer.keeper = self.saved.keeper(0)
        return trainer


def _manage_memory(graph: Graph, settings: Sequence[Settings], ranks: RankGroup) -> None:
    """Tell the allocator what matters; refuse a large graph that this machine cannot hold.

    Raises:
        SettingsError: it cannot hold the parts of its ranks.
    """
    if not isinstance(graph, LargeGraph):
        keep_freed_memory()
        return
    return_freed_memory()
    part = Sizes(
        -(-graph.num_nodes // ranks.size), -(-graph.num_edges // ranks.size), graph.num_classes
    )
    needed, room = estimate(part, settings[0], len(settings)), available()
    here = number_said("LOCAL_WORLD_SIZE", ranks.size)
    if room is not None and here * needed.total > room:
        raise SettingsError(
            f"{graph.name}: each of {here} ranks on this machine needs {needed} of memory, but "
            f"{room / GIB:.1f} GiB are free; add machines, or train fewer runs at a time"
        )


def check_shareable(graph: Graph, settings: Sequence[Settings]) -> None:
    """Refuse what ranks cannot train together.

    Raises:
        SettingsError: with the setting and what to do instead.
    """
    first, alone = settings[0], "or train on one process, without torchrun"
    if type(graph) not in (Graph, LargeGraph):
        raise SettingsError(
            f"{graph.name}: several ranks take a graph with edges of one kind; give such a graph, "
            f"{alone}"
        )
    if first.model != "ppro":
        raise SettingsError(f"model {first.model}: several ranks train ppro alone; use it, {alone}")
    if not part_of(first).shareable:
        able = ", ".join(name for name, part in BACKBONES.items() if part.shareable)
        raise SettingsError(
            f"backbone {first.backbone}: several ranks train {able}; use one of them, {alone}"
        )
    if first.inputs.direction != "both":
        raise SettingsError(
            f"direction={first.inputs.direction}: several ranks exchange what lies at both ends of "
            f"an edge; set direction=both, {alone}"
        )
    if compares(first):
        raise SettingsError(
            "teaching=compare: a rank does not see what the neighbours of its nodes predict; set "
            f"teaching=paper, {alone}"
        )
    if any(s.controllers.judge_share > 0 for s in settings):
        raise SettingsError(
            f"judge_share: several ranks do not draw judges; set judge_share=0, {alone}"
        )
    if any(s.training.consistency > 0 for s in settings):
        raise SettingsError(
            f"consistency: several ranks do not train with it; set consistency=0, {alone}"
        )


def shard_trainer(shard: Shard, settings: Sequence[Settings], weights: Tensor | None) -> Trainer:
    """Return the trainer of this rank: the usual one, on the part of the graph that the rank holds.

    Args:
        weights: of each class in each run, or None. Shape ``[R, c]``.
    """
    model = build_model(shard.num_features, shard.num_classes, settings, shard.device)
    # A CUDA graph cannot hold what other ranks take part in.
    model.capturable = False
    train, val = shard.rows(shard.splits.train, weights), shard.rows(shard.splits.val)
    return Trainer(model, shard.inputs, train, val, settings)
