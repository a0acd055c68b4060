"""An estimator from the folder of ``ppro train``, without the graph that it was trained on."""

from __future__ import annotations

import csv
import json
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from ppro.data.files.schema import read_schema
from ppro.errors import RunError
from ppro.runs.estimator import PProClassifier
from ppro.runs.runfolder import SCHEMA, best_run, read_config, read_weights, run_settings
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model
from ppro.training.stopping import MEASURED

CLASS_COLUMN = "p_"
"""How the columns of ``nodes.csv`` begin that hold the probability of a class."""


def from_run(run: Path, device: torch.device) -> PProClassifier:
    """The fitted estimator that a run folder stands for; its run with the best validation.

    Raises:
        RunError: a file is missing or damaged.
    """
    config = read_config(run)
    settings = run_settings(config)
    names, steps, priorities = _nodes(run / "nodes.csv")
    schema = read_schema(run / SCHEMA) if (run / SCHEMA).exists() else None
    if schema is None:
        num_features = _num_features(run / "weights.safetensors", settings[0], len(names))
    else:
        num_features = schema.num_features
    estimator = PProClassifier(n_runs=config.runs, settings=config.settings)
    estimator.model_ = build_model(num_features, len(names), settings, device)
    read_weights(run, estimator.model_)
    estimator.settings_, estimator.best_run_ = tuple(settings), best_run(run)
    estimator.classes_, estimator.n_features_in_ = np.array(names), num_features
    estimator.propagation_steps_, estimator.node_priorities_ = steps, priorities
    estimator.history_ = _history(run / "metrics.jsonl", estimator.best_run_)
    facts = json.loads((run / "result.json").read_text(encoding="utf-8"))
    accuracy = facts["per_run"][estimator.best_run_]["val_accuracy"]
    estimator.validation_score_ = float(accuracy) / 100
    estimator.interrupted_ = bool(facts.get("interrupted"))
    return estimator


def _nodes(path: Path) -> tuple[list[str], NDArray[np.int64], NDArray[np.float32]]:
    """The names of the classes in their order, and step and priority of every node."""
    steps, priorities = array("q"), array("f")
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            places = header.index("step"), header.index("priority")
            for row in reader:
                steps.append(int(row[places[0]]))
                priorities.append(float(row[places[1]]))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RunError(f"{path}: missing or damaged ({error}); train again") from None
    except (ValueError, IndexError):
        steps = array("q")
    if not steps:
        raise RunError(f"{path}: damaged, no rows or no columns step and priority; train again")
    names = [name for name in header if name.startswith(CLASS_COLUMN)]
    names = [name.removeprefix(CLASS_COLUMN) for name in names]
    return names, np.array(steps), np.array(priorities)


def _history(path: Path, run: int) -> dict[str, Any]:
    """The metrics of one run by name."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [row for line in lines if (row := json.loads(line))["run"] == run]
    except (OSError, ValueError, KeyError) as error:
        raise RunError(f"{path}: missing or damaged ({error}); train again") from None
    return {name: np.array([row[name] for row in rows], dtype=np.float32) for name in MEASURED}


def _num_features(path: Path, settings: Settings, num_classes: int) -> int:
    """The number of features that weights are for, found by trying two other numbers.

    A size of a tensor that depends on the number f of features is a + b f; two models tell a and
    b, the saved one f.
    """
    saved, low, high = _saved_shapes(path), 3, 5
    few, more = (_shapes(f, settings, num_classes) for f in (low, high))
    for name, shape in few.items():
        for place, size in enumerate(shape):
            slope = (more[name][place] - size) // (high - low)
            if slope and len(saved.get(name, ())) == len(shape):
                return (saved[name][place] - size) // slope + low
    raise RunError(f"{path}: the weights are not of the settings in settings.toml; train again")


def _shapes(num_features: int, settings: Settings, num_classes: int) -> dict[str, Sequence[int]]:
    model = build_model(num_features, num_classes, [settings], torch.device("cpu"))
    return {name: tuple(p.shape) for name, p in model.named_parameters()}


def _saved_shapes(path: Path) -> Mapping[str, Sequence[int]]:
    try:
        with safe_open(str(path), framework="pt") as file:
            names = list(file.keys())
            return {name: file.get_slice(name).get_shape() for name in names}
    except FileNotFoundError:
        raise RunError(f"{path}: missing; train again") from None
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: damaged ({error}); train again") from None
