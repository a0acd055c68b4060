"""The run folder: settings, metrics, result, weights and the table of nodes, written as a whole.

A folder is written under a temporary name next to its place and renamed when it is complete, so a
folder under its final name is never half a run.
"""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import tomli_w
import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ppro.data.files import FileSource, Schema, write_schema
from ppro.data.splits import Splits
from ppro.errors import RunError
from ppro.files import HIDDEN, MARKER, dump_json, is_taken, umask, whole_folder
from ppro.graph.core import Graph
from ppro.runs.nodetable import write_nodes
from ppro.runs.versions import versions
from ppro.settings.explain import explain
from ppro.settings.recipe import PaperResult
from ppro.settings.settings import Settings
from ppro.training.fit import Fit
from ppro.training.stopping import MEASURED, History

FORMAT = 1
SCHEMA = "schema.json"


class RunConfig(BaseModel):
    """What a run folder's ``settings.toml`` holds: enough to make the run again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int = FORMAT
    dataset: str
    split: str
    runs: int = Field(ge=1)
    options: dict[str, float] = Field(default_factory=dict)
    settings: Settings
    paper: PaperResult | None = None
    source: FileSource | None = None


def run_settings(config: RunConfig) -> list[Settings]:
    """The settings of each run: run r has seed + r."""
    return [config.settings.replace(seed=config.settings.seed + r) for r in range(config.runs)]


def check_writable(out: Path) -> None:
    """Fail before training when the result could not be written; leaves nothing behind.

    Raises:
        RunError: the folder is taken, or cannot be written to.
    """
    place = out.absolute()
    try:
        with suppress(FileNotFoundError):
            place.lstat()
        if is_taken(out):
            raise RunError(f"{out}: already exists; choose another --out or remove it")
        while not os.path.lexists(place):
            place = place.parent
        tempfile.TemporaryDirectory(dir=place, prefix=HIDDEN).cleanup()
    except OSError as error:
        reason = f"cannot be written to ({error.strerror})"
        raise RunError(f"{out}: {reason}; choose another --out") from None


def mean_std(values: torch.Tensor) -> tuple[float, float]:
    """Mean and sample standard deviation (0 for a single run)."""
    spread = float(values.std()) if values.numel() > 1 else 0.0
    return float(values.mean()), spread


def summary(
    config: RunConfig, result: Fit, out: Path, device: str, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """The result of a run as plain numbers; accuracies in percent.

    Args:
        notes: what a reader of the result should know of the data or the recipe.
    """
    val_mean, val_std = mean_std(result.val_accuracy)
    test_mean, test_std = mean_std(result.test_accuracy)
    steps = torch.bincount(
        result.nodes.steps.flatten(), minlength=config.settings.network.max_steps + 1
    )
    return {
        "dataset": config.dataset,
        "split": config.split,
        "strategy": config.settings.strategy,
        "backbone": config.settings.backbone,
        "runs": config.runs,
        "seed": config.settings.seed,
        "epochs": int(result.history.epochs.sum()),
        "val_mean": val_mean,
        "val_std": val_std,
        "test_mean": test_mean,
        "test_std": test_std,
        "paper": None if config.paper is None else config.paper.accuracy,
        "seconds": round(result.seconds, 3),
        "out": str(out),
        "interrupted": result.history.interrupted,
        "notes": list(notes),
        "steps": (steps / steps.sum()).tolist(),
        "device": device,
        "threads": result.threads,
        "versions": versions(),
        "per_run": _per_run(result),
    }


def _per_run(result: Fit) -> list[dict[str, Any]]:
    return [
        {
            "run": r,
            "seed": result.settings[r].seed,
            "epochs": int(result.history.epochs[r]),
            "best_epoch": int(result.history.best_epoch[r]) + 1,
            "val_accuracy": float(result.val_accuracy[r]),
            "test_accuracy": float(result.test_accuracy[r]),
        }
        for r in range(len(result.settings))
    ]


def write_run(
    out: Path,
    config: RunConfig,
    graph: Graph,
    splits: Splits,
    result: Fit,
    facts: dict[str, Any],
    *,
    schema: Schema | None = None,
) -> None:
    """Write a run folder.

    Args:
        schema: how the user's files became the graph; None for a graph of the catalogue.
    """
    try:
        with whole_folder(out) as folder:
            write_toml(folder / MARKER, config)
            write_metrics(folder / "metrics.jsonl", result.history)
            if schema is not None:
                write_schema(folder / SCHEMA, schema)
            (folder / "result.json").write_text(dump_json(facts, indent=2) + "\n", encoding="utf-8")
            write_weights(folder / "weights.safetensors", result.model)
            write_nodes(folder / "nodes.csv", graph, splits, result.nodes, result.best_run)
    except OSError as error:
        reason = f"cannot be written ({error.strerror or error})"
        raise RunError(f"{out}: {reason}; make room there or choose another --out") from None


def write_toml(path: Path, config: RunConfig) -> None:
    """Write the settings, every one spelled out."""
    path.write_text(tomli_w.dumps(config.model_dump(exclude_none=True)), encoding="utf-8")


def write_metrics(path: Path, history: History) -> None:
    """One JSON object per epoch and run."""
    with path.open("w", encoding="utf-8") as file:
        for epoch, by_metric in enumerate(history.metrics.tolist(), start=1):
            for run, values in enumerate(zip(*by_metric, strict=True)):
                if epoch <= history.epochs[run]:
                    row = dict(zip(MEASURED, values, strict=True))
                    file.write(dump_json({"epoch": epoch, "run": run, **row}) + "\n")


def write_weights(path: Path, model: torch.nn.Module) -> None:
    """Write the weights of all runs; the first dimension of each tensor is the run."""
    tensors = {name: p.detach().cpu().contiguous() for name, p in model.named_parameters()}
    save_file(tensors, str(path), metadata={"format": str(FORMAT)})
    path.chmod(0o666 & ~umask())


def best_run(run: Path) -> int:
    """The run with the best validation accuracy, as the training noted it.

    Raises:
        RunError: the result is missing or damaged.
    """
    path = run / "result.json"
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["per_run"]
        return int(max(rows, key=lambda row: (row["val_accuracy"], -row["run"]))["run"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"damaged or missing ({type(error).__name__})"
        raise RunError(f"{path}: {reason}; name a run with --run, or train again") from None


def read_config(run: Path) -> RunConfig:
    """Read the settings of a run folder.

    Raises:
        RunError: there is none, it is damaged, or a newer version wrote it.
    """
    path = run / MARKER
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(
            f"{run}: not a run folder (no settings.toml); give one that ppro train wrote"
        ) from None
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); make it readable") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RunError(f"{path}: damaged ({error}); train again") from None
    if values.get("format") != FORMAT:
        raise RunError(
            f"{path}: format {values.get('format')}, but this version reads format {FORMAT}; "
            "train again, or use the version of ppro that wrote it"
        )
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        raise RunError(explain(error, str(path), tuple(RunConfig.model_fields))) from None


def read_weights(run: Path, model: torch.nn.Module) -> None:
    """Load the weights of a run folder into a model of the same settings.

    Raises:
        RunError: they are missing, damaged or of other settings.
    """
    path = run / "weights.safetensors"
    try:
        model.load_state_dict(load_file(str(path)))
    except FileNotFoundError:
        raise RunError(f"{path}: missing; train again") from None
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: damaged ({error}); train again") from None
    except RuntimeError as error:
        first = str(error).splitlines()[1].strip()
        raise RunError(f"{path}: not of the settings in {MARKER}: {first}; train again") from None
