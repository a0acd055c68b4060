"""Run folders and estimators that version 0.1 wrote: two formats, read as the one of today."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import ValidationError
from torch import Tensor

from ppro.data.files import Schema, read_schema
from ppro.data.splits import Splits
from ppro.errors import RunError
from ppro.files import MARKER
from ppro.runs.config import FIRST_FORMAT, RunConfig, Trained
from ppro.runs.metrics_file import Columns
from ppro.runs.nodes import PARTS, NodeRecords
from ppro.runs.nodetable import CLASS_COLUMN
from ppro.runs.saved_run import SavedRun, read_facts
from ppro.runs.tensors import WEIGHTS, read_tensors
from ppro.runs.writing import SCHEMA
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model
from ppro.training.fit import best_of
from ppro.training.stopping import MEASURED

ESTIMATOR = "estimator.json"
NODES = "nodes.csv"


def open_training(folder: Path, config: RunConfig) -> SavedRun:
    """Open a folder of ``ppro train``.

    Raises:
        RunError: a file is missing or damaged.
    """
    schema = read_schema(folder / SCHEMA) if (folder / SCHEMA).exists() else None
    names = [n.removeprefix(CLASS_COLUMN) for n in _table(folder)[0] if n.startswith(CLASS_COLUMN)]
    scores = [row["val_accuracy"] for row in read_facts(folder, config.runs)["per_run"]]
    trained = Trained(
        num_features=schema.num_features if schema else _num_features(folder, config, len(names)),
        classes=names,
        feature_names=schema.feature_names if schema else None,
        best_run=best_of(torch.tensor(scores)),
    )
    return _Training(folder, config.model_copy(update={"trained": trained}))


class _Training(SavedRun):
    """A folder of ``ppro train``, which kept the nodes of the best run in a table alone."""

    @property
    def facts(self) -> dict[str, Any]:
        found = read_facts(self.folder, self.config.runs)
        parts = [f"{part}_{what}" for part in ("val", "test") for what in ("mean", "std")]
        known = {part: found[part] for part in parts if found.get(part) is not None}
        scores = {part.replace("_", "_score_"): value / 100 for part, value in known.items()}
        return {"metric": "accuracy", **scores, **found}

    def nodes(self) -> NodeRecords:
        rows, names, run = _table(self.folder), list(self.class_names), self.trained.best_run
        masks = torch.zeros(3, self.config.runs, len(rows), dtype=torch.bool)
        for mask, part in zip(masks, PARTS, strict=True):
            mask[run] = torch.tensor([row["split"] == part for row in rows])
        wanted = ["priority", *(f"{CLASS_COLUMN}{name}" for name in names)]
        try:
            numbers = torch.tensor([[float(row[name]) for name in wanted] for row in rows])
            steps = torch.tensor([int(row["step"]) for row in rows])
        except (ValueError, TypeError) as error:
            raise RunError(f"{self.folder / NODES}: damaged ({error}); train again") from None
        return NodeRecords(
            names,
            [row["id"] for row in rows],
            torch.tensor([names.index(row["label"]) if row["label"] else -1 for row in rows]),
            Splits(self.config.split, *masks),
            run,
            numbers[:, 1:],
            steps,
            numbers[:, 0].contiguous(),
        )


def _table(folder: Path) -> list[dict[str, str]]:
    path = folder / NODES
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise RunError(f"{path}: missing or damaged ({error}); train again") from None
    if not rows or {"id", "label", "step", "priority", "split"} - set(rows[0]):
        raise RunError(f"{path}: damaged, rows or columns are missing; train again")
    return rows


def _num_features(folder: Path, config: RunConfig, num_classes: int) -> int:
    """Return the number of features that weights are for, found by trying two other numbers.

    A size of a tensor that depends on the number f of features is a + b f; two models tell a and
    b, the saved one f.
    """

    def shapes(num_features: int) -> dict[str, tuple[int, ...]]:
        sizes = num_features, num_classes
        model = build_model(*sizes, [config.settings], torch.device("cpu"))
        return {name: tuple(p.shape) for name, p in model.named_parameters()}

    saved, few, more = read_tensors(folder / WEIGHTS), shapes(3), shapes(5)
    for name, shape in few.items():
        for place, size in enumerate(shape):
            slope = (more[name][place] - size) // 2
            if slope and name in saved and saved[name].dim() == len(shape):
                return (saved[name].shape[place] - size) // slope + 3
    raise RunError(f"{folder}: the weights are not of the settings in {MARKER}; train again")


def open_estimator(folder: Path) -> SavedRun:
    """Open a folder of ``PProClassifier.save``.

    Raises:
        RunError: a file is missing or damaged.
    """
    path = folder / ESTIMATOR
    try:
        saved = json.loads(path.read_bytes())
        if saved["format"] != FIRST_FORMAT:
            raise RunError(f"{path}: format {saved['format']} is not known; save it again")
        kept = ("num_features", "classes", "best_run", "own_backbone")
        config = RunConfig(
            dataset="graph",
            split=saved["split"],
            runs=len(saved["settings"]),
            settings=Settings.read(saved["settings"][0]),
            trained=Trained(**{key: saved[key] for key in kept}),
            estimator={key: value for key, value in saved["params"].items() if value is not None},
        )
        return _FirstEstimator(folder, config, saved["validation_score"], saved["interrupted"])
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); make it readable") from None
    except (ValueError, KeyError, TypeError, IndexError, ValidationError) as error:
        raise RunError(
            f"{path}: damaged ({type(error).__name__}: {error}); save it again"
        ) from None


@dataclass(frozen=True, eq=False)
class _FirstEstimator(SavedRun):
    """A folder of ``save``, which kept nodes and the history of the best run in one file."""

    score: float
    interrupted: bool

    @cached_property
    def fitted(self) -> dict[str, Tensor]:
        return read_tensors(self.folder / "fitted.safetensors")

    @property
    def facts(self) -> dict[str, Any]:
        unknown = dict.fromkeys(
            ("val_accuracy", "test_accuracy", "val_score", "test_score"), np.nan
        )
        rows = [
            {"run": run, "seed": settings.seed, "epochs": 0, "best_epoch": 1, **unknown}
            for run, settings in enumerate(self.settings)
        ]
        epochs = len(self.fitted["history.val_accuracy"])
        known = {"epochs": epochs, "val_score": self.score, "val_accuracy": 100 * self.score}
        rows[self.trained.best_run] |= known
        return {"metric": "accuracy", "interrupted": self.interrupted, "per_run": rows}

    def metrics(self) -> Columns:
        columns = {}
        for name in MEASURED:
            if (values := self.fitted.get(f"history.{name}")) is not None:
                columns[name] = np.full((len(values), self.config.runs), np.nan)
                columns[name][:, self.trained.best_run] = values.numpy()
        return columns

    def schema(self) -> Schema:
        size = self.trained.num_features
        return Schema(kind="arrays", num_features=size, class_names=self.class_names)

    def nodes(self) -> NodeRecords:
        steps, priorities, embedding, *masks = (
            self.fitted[name]
            for name in ("steps", "priorities", "embedding", *(f"splits.{part}" for part in PARTS))
        )
        return NodeRecords(
            class_names=self.class_names,
            ids=None,
            labels=torch.full_like(steps, -1),
            splits=Splits(self.config.split, *masks),
            run=self.trained.best_run,
            probabilities=None,
            steps=steps,
            priorities=priorities,
            embedding=embedding,
        )
