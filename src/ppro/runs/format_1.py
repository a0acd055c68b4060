"""Run folders and estimators that version 0.1 wrote: two formats, read as the one of today."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ppro.data.files import Schema, read_schema
from ppro.data.splits import Splits
from ppro.errors import RunError
from ppro.files import MARKER
from ppro.runs.config import FIRST_FORMAT, RunConfig, Trained
from ppro.runs.metrics_file import Columns
from ppro.runs.nodes import NodeRecords
from ppro.runs.nodetable import CLASS_COLUMN
from ppro.runs.saved_run import SavedRun, read_facts
from ppro.runs.tensors import read_tensors, saved_shapes
from ppro.runs.writing import SCHEMA
from ppro.settings.explain import explain
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model
from ppro.training.fit import best_of
from ppro.training.stopping import MEASURED

ESTIMATOR = "estimator.json"
FITTED = "fitted.safetensors"
NODES = "nodes.csv"


def open_training(folder: Path, config: RunConfig) -> SavedRun:
    """Open a folder of ``ppro train``.

    Raises:
        RunError: a file is missing or damaged.
    """
    schema = read_schema(folder / SCHEMA) if (folder / SCHEMA).exists() else None
    names = _class_names(folder / NODES)
    scores = [row["val_accuracy"] for row in read_facts(folder, config.runs)["per_run"]]
    trained = Trained(
        num_features=_num_features(folder, config.settings, len(names))
        if schema is None
        else schema.num_features,
        classes=names,
        feature_names=None if schema is None else schema.feature_names,
        best_run=best_of(torch.tensor(scores)),
    )
    return _Training(folder, config.model_copy(update={"trained": trained}))


@dataclass(frozen=True, eq=False)
class _Training(SavedRun):
    """A folder of ``ppro train``: nodes in a table alone, results without a score."""

    @cached_property
    def facts(self) -> dict[str, Any]:
        facts = read_facts(self.folder, self.config.runs)
        rows = [
            {f"{part}_score": row[f"{part}_accuracy"] / 100 for part in ("val", "test")} | row
            for row in facts["per_run"]
        ]
        means = {
            f"{part}_score_{what}": facts[f"{part}_{what}"] / 100
            for part in ("val", "test")
            for what in ("mean", "std")
            if isinstance(facts.get(f"{part}_{what}"), float)
        }
        best = self.trained.best_run
        return {"metric": "accuracy", "best_run": best, **means, **facts, "per_run": rows}

    def nodes(self) -> NodeRecords:
        path, names = self.folder / NODES, list(self.class_names)
        ids, labels, parts = list[str](), array("q"), list[str]()
        steps, numbers = array("q"), array("f")
        number = {name: code for code, name in enumerate(names)}
        wanted = ["priority", *(f"{CLASS_COLUMN}{name}" for name in names)]
        try:
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    ids.append(row["id"])
                    labels.append(number.get(row["label"], -1))
                    parts.append(row["split"])
                    steps.append(int(row["step"]))
                    numbers.extend(float(row[name]) for name in wanted)
        except (OSError, ValueError, csv.Error, KeyError, TypeError) as error:
            raise RunError(f"{path}: missing or damaged ({error}); train again") from None
        if not steps:
            raise RunError(f"{path}: damaged, no rows; train again")
        table = torch.tensor(numbers).view(len(steps), -1)
        best, runs = self.trained.best_run, self.config.runs
        masks = [torch.zeros(runs, len(steps), dtype=torch.bool) for _ in range(3)]
        for mask, name in zip(masks, ("train", "val", "test"), strict=True):
            mask[best] = torch.tensor([part == name for part in parts])
        return NodeRecords(
            names,
            ids,
            torch.tensor(labels),
            Splits(self.config.split, *masks),
            best,
            table[:, 1:],
            torch.tensor(steps),
            table[:, 0].contiguous(),
        )


def _class_names(path: Path) -> list[str]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header = next(csv.reader(file), [])
    except (OSError, ValueError, csv.Error) as error:
        raise RunError(f"{path}: missing or damaged ({error}); train again") from None
    names = [n.removeprefix(CLASS_COLUMN) for n in header if n.startswith(CLASS_COLUMN)]
    if not names or "step" not in header:
        raise RunError(f"{path}: damaged, no columns of steps and classes; train again")
    return names


def _num_features(folder: Path, settings: Settings, num_classes: int) -> int:
    """Return the number of features that weights are for, found by trying two other numbers.

    A size of a tensor that depends on the number f of features is a + b f; two models tell a and
    b, the saved one f.
    """
    saved, low, high = saved_shapes(folder), 3, 5
    few, more = (_shapes(f, settings, num_classes) for f in (low, high))
    for name, shape in few.items():
        for place, size in enumerate(shape):
            slope = (more[name][place] - size) // (high - low)
            if slope and len(saved.get(name, ())) == len(shape):
                return (saved[name][place] - size) // slope + low
    raise RunError(f"{folder}: the weights are not of the settings in {MARKER}; train again")


def _shapes(num_features: int, settings: Settings, num_classes: int) -> dict[str, Sequence[int]]:
    model = build_model(num_features, num_classes, [settings], torch.device("cpu"))
    return {name: tuple(p.shape) for name, p in model.named_parameters()}


class _Estimator(BaseModel):
    """What ``estimator.json`` holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    version: str = ""
    params: dict[str, Any]
    settings: list[dict[str, Any]] = Field(min_length=1)
    classes: list[Any]
    num_features: int
    best_run: int
    validation_score: float
    interrupted: bool
    split: str
    own_backbone: str | None = None


def open_estimator(folder: Path) -> SavedRun:
    """Open a folder of ``PProClassifier.save``.

    Raises:
        RunError: a file is missing or damaged.
    """
    path = folder / ESTIMATOR
    try:
        saved = _Estimator.model_validate_json(path.read_bytes())
        if saved.format != FIRST_FORMAT:
            raise RunError(f"{path}: format {saved.format} is not known; save it again")
        config = RunConfig(
            dataset="graph",
            split=saved.split,
            runs=len(saved.settings),
            settings=Settings.read(saved.settings[0]),
            trained=Trained(
                num_features=saved.num_features,
                classes=saved.classes,
                best_run=saved.best_run,
                own_backbone=saved.own_backbone,
            ),
            estimator={key: v for key, v in saved.params.items() if v is not None},
        )
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); make it readable") from None
    except ValidationError as error:
        known = tuple(_Estimator.model_fields)
        raise RunError(f"{explain(error, str(path), known)}; save it again") from None
    result = {"score": saved.validation_score, "interrupted": saved.interrupted}
    return _FirstEstimator(folder, config, result)


@dataclass(frozen=True, eq=False)
class _FirstEstimator(SavedRun):
    """A folder of ``save``: what it kept of the nodes and of the best run lies in one file."""

    result: Mapping[str, Any]

    @cached_property
    def _fitted(self) -> dict[str, torch.Tensor]:
        return read_tensors(self.folder / FITTED)

    @cached_property
    def facts(self) -> dict[str, Any]:
        nothing = {"epochs": 0, "best_epoch": 1, "val_accuracy": np.nan, "test_accuracy": np.nan}
        rows = [
            {"run": r, "seed": settings.seed, **nothing, "val_score": np.nan, "test_score": np.nan}
            for r, settings in enumerate(self.settings)
        ]
        best, score = self.trained.best_run, self.result["score"]
        epochs = len(self._fitted["history.val_accuracy"])
        rows[best] |= {"epochs": epochs, "val_score": score, "val_accuracy": 100 * score}
        told = {"metric": "accuracy", "interrupted": self.result["interrupted"]}
        return {**told, "best_run": best, "per_run": rows}

    def metrics(self) -> Columns:
        known = {
            n: self._fitted[f"history.{n}"] for n in MEASURED if f"history.{n}" in self._fitted
        }
        columns = {}
        for name, values in known.items():
            columns[name] = np.full((len(values), self.config.runs), np.nan)
            columns[name][:, self.trained.best_run] = values.numpy()
        return columns

    def schema(self) -> Schema:
        size = self.trained.num_features
        return Schema(kind="arrays", num_features=size, class_names=self.class_names)

    def nodes(self) -> NodeRecords:
        found = self._fitted
        splits = Splits(
            self.config.split, *(found[f"splits.{p}"] for p in ("train", "val", "test"))
        )
        return NodeRecords(
            self.class_names,
            None,
            torch.full_like(found["steps"], -1),
            splits,
            self.trained.best_run,
            None,
            found["steps"],
            found["priorities"],
            found["embedding"],
        )
