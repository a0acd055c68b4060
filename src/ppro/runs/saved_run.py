"""A run folder that was opened: its files, each read when it is asked for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from ppro.data.files import Schema, read_schema
from ppro.errors import RunError
from ppro.files import read_text
from ppro.graph.core import Graph
from ppro.nn.network import Network
from ppro.runs.config import RunConfig, Trained, run_settings
from ppro.runs.facts import check_facts
from ppro.runs.metrics_file import Columns, history_of, read_metrics
from ppro.runs.nodes import NodeRecords, read_records
from ppro.runs.problems import reading
from ppro.runs.summary import FILE as RESULT
from ppro.runs.tensors import check_shapes, read_weights
from ppro.runs.writing import SCHEMA, TrainedRun
from ppro.settings.settings import Settings
from ppro.training.assembly import OwnBackbone, build_model, parameter_shapes


@dataclass(frozen=True, eq=False)
class SavedRun:
    """A run folder; its files are read when they are asked for.

    Every method raises a RunError where the file behind it is missing or damaged.
    """

    folder: Path
    config: RunConfig

    @property
    def trained(self) -> Trained:
        """Return what opening needs to know of the training."""
        assert self.config.trained is not None
        return self.config.trained

    @cached_property
    def settings(self) -> list[Settings]:
        """Return the settings of every run."""
        return run_settings(self.config)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Return the classes as text, in the order of the model's outputs."""
        return tuple(map(str, self.trained.classes))

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of features and classes."""
        return self.trained.num_features, len(self.trained.classes)

    def chosen(self, run: int | None) -> int:
        """Return the run that was asked for, or that with the best validation score.

        Raises:
            RunError: there is no such run.
        """
        if run is None:
            return self.trained.best_run
        if run >= self.config.runs:
            last = self.config.runs - 1
            raise RunError(f"--run {run}: out of range; {self.folder} holds runs 0 to {last}")
        return run

    def check_graph(self, graph: Graph) -> None:
        """Refuse a graph that the network was not made for.

        Raises:
            RunError: it has another number of features or of classes.
        """
        found = graph.num_features, graph.num_classes
        if found != self.sizes:
            raise RunError(
                f"{self.folder}: trained on {self.sizes[0]} features and {self.sizes[1]} classes, "
                f"but {graph.name} has {found[0]} and {found[1]}; give a graph like that one"
            )

    def model(
        self, device: torch.device, *, run: int | None = None, backbone: OwnBackbone | None = None
    ) -> Network:
        """Return the trained network.

        Args:
            run: one of the runs; None for all in one.
            backbone: your own, where it was trained around one.

        Raises:
            RunError: a backbone is missing or too many, or the weights are of other settings.
        """
        own = self.trained.own_backbone
        if own is not None and backbone is None:
            raise RunError(
                f"{self.folder}: trained around a backbone of your own, which is not saved; give "
                f"it again: ppro.load(…, backbone={own})"
            )
        if own is None and backbone is not None:
            named = f"{self.folder}: trained around {self.config.settings.backbone}"
            raise RunError(f"{named}; leave the argument backbone out")
        if own is None:
            shapes = parameter_shapes(*self.sizes, self.config.settings)
            check_shapes(self.folder, self.config.runs, shapes)
        settings = self.settings if run is None else [self.settings[run]]
        model = build_model(*self.sizes, settings, device, backbone)
        read_weights(self.folder, model, run)
        return model

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Return what ``result.json`` says; see :func:`ppro.runs.summary.summary`."""
        return read_facts(self.folder, self.config.runs)

    def metrics(self) -> Columns:
        """Return what was measured in training, by epoch and run."""
        return read_metrics(self.folder)

    def nodes(self) -> NodeRecords:
        """Return what the best run said of the nodes of its graph."""
        return read_records(self.folder, self.class_names, self.config.split, self.trained.best_run)

    def schema(self) -> Schema | None:
        """Return how files became the graph; None where it came from the catalogue."""
        path, from_files = self.folder / SCHEMA, self.config.source is not None
        return read_schema(path) if from_files or path.exists() else None

    def whole(self, device: torch.device, backbone: OwnBackbone | None = None) -> TrainedRun:
        """Return everything that the folder holds."""
        history, model = (
            history_of(self.metrics(), self.facts),
            self.model(device, backbone=backbone),
        )
        return TrainedRun(self.config, model, history, self.nodes(), self.facts, self.schema())


def read_facts(folder: Path, runs: int) -> dict[str, Any]:
    """Read ``result.json``.

    Raises:
        RunError: it is missing, damaged, or not of that many runs.
    """
    path = folder / RESULT
    with reading(path):
        facts = json.loads(read_text(path))
        check_facts(facts)
        rows = [_scored(row) for row in facts["per_run"]]
        if len(rows) != runs or not all(row["epochs"] >= 0 < row["best_epoch"] for row in rows):
            raise ValueError("a run is missing")
    return {**facts, "per_run": rows}


def _scored(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a run with NaN for null; version 0.1 had no score but the accuracy."""
    facts = {key: float("nan") if value is None else value for key, value in row.items()}
    return {f"{part}_score": facts[f"{part}_accuracy"] / 100 for part in ("val", "test")} | facts
