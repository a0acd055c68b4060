"""Write a run folder: the one format of ``ppro train`` and of ``PProClassifier.save``.

A folder is written under a temporary name next to its place and renamed when it is complete, so a
folder under its final name is never half a run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppro.data.files import Schema, write_schema
from ppro.data.splits import Splits
from ppro.errors import RunError
from ppro.files import HIDDEN, is_taken, readable_json, staged, whole_folder, write_text
from ppro.graph.core import Graph
from ppro.nn.network import Network
from ppro.runs.config import RunConfig, Trained, own_parts, write_config
from ppro.runs.metrics_file import write_metrics
from ppro.runs.nodes import NodeRecords, write_records
from ppro.runs.nodetable import write_nodes
from ppro.runs.summary import FILE as RESULT
from ppro.runs.summary import summary
from ppro.runs.tensors import write_weights
from ppro.training.assessment import Assessment
from ppro.training.fit import Fit
from ppro.training.stopping import History

SCHEMA = "schema.json"
INTERIM = f"{HIDDEN}interim"
"""Marks the run folder of a training that was interrupted and can go on."""
LARGE = 1_000_000
"""From this many nodes on, probabilities are kept in the table alone, and embeddings not."""


@dataclass(frozen=True, eq=False)
class TrainedRun:
    """Everything that a run folder holds.

    Args:
        facts: see :func:`ppro.runs.summary.summary`.
        schema: how files became the graph; None for a graph of the catalogue.
    """

    config: RunConfig
    model: Network
    history: History
    nodes: NodeRecords
    facts: dict[str, Any]
    schema: Schema | None = None

    @classmethod
    def of(
        cls,
        config: RunConfig,
        graph: Graph,
        splits: Splits,
        result: Fit,
        *,
        device: str,
        notes: Sequence[str] = (),
        schema: Schema | None = None,
        classes: Sequence[Any] | None = None,
        own_backbone: str | None = None,
    ) -> TrainedRun:
        """Return what a training came to.

        Args:
            device: where it was trained.
            notes: what a reader of the result should know of the data or the recipe.
            classes: as the labels wrote them; the names of the graph's classes when None.
            own_backbone: the user's own module in words, if any.
        """
        trained = Trained(
            num_features=graph.num_features,
            classes=list(graph.class_names if classes is None else classes),
            feature_names=None if schema is None else schema.feature_names,
            best_run=result.best_run,
            own_backbone=own_backbone,
            own_parts=own_parts(config.settings),
        )
        best: Any = {"run": result.best_run, "embedding": result.embedding}
        nodes = NodeRecords.of(graph, splits, result.nodes, **best)
        chances, settings = result.nodes.probabilities, result.settings[0]
        assessment = Assessment.of(chances, graph, splits, settings)
        facts = summary(config, result, assessment, Path(), device, notes)
        done = config.model_copy(update={"trained": trained})
        return cls(done, result.model, result.history, nodes, facts, schema)


def write_run(
    out: Path, run: TrainedRun, *, option: str = "--out", interim: bool = False
) -> dict[str, Any]:
    """Write a run folder, and return what its ``result.json`` says.

    Args:
        option: what the user names the folder by, for messages.
        interim: it is of a training that was interrupted, and is replaced when that goes on.

    Raises:
        RunError: the folder cannot be written.
    """
    facts = {**run.facts, "out": str(out)}
    try:
        with whole_folder(out) as folder:
            if interim:
                (folder / INTERIM).touch()
            write_metrics(folder, run.history)
            if run.schema is not None:
                write_schema(folder / SCHEMA, run.schema)
            (folder / RESULT).write_text(readable_json(facts), encoding="utf-8")
            write_weights(folder, run.model)
            write_records(folder, run.nodes, brief=run.nodes.steps.shape[0] >= LARGE)
            if run.nodes.probabilities is not None:
                write_nodes(folder / "nodes.csv", run.nodes)
            write_config(folder, run.config)
        if not interim:
            (out / INTERIM).unlink(missing_ok=True)
    except OSError as error:
        raise _unwritten(out, error, option) from None
    return facts


def is_interim(out: Path) -> bool:
    """Tell whether a folder holds what an interrupted training had come to, or is to be filled."""
    return (out / INTERIM).is_file()


def add_facts(folder: Path, facts: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Write more into the ``result.json`` of a run folder, and return all that it says.

    Raises:
        RunError: it cannot be written; then it stays as it was.
    """
    try:
        write_text(folder / RESULT, readable_json({**facts, **more}))
    except OSError as error:
        raise _unwritten(folder / RESULT, error, "--out") from None
    return {**facts, **more}


def _unwritten(path: Path, error: OSError, option: str) -> RunError:
    reason = f"cannot be written ({error.strerror or error})"
    return RunError(f"{path}: {reason}; make room there or choose another {option}")


def check_writable(out: Path, *, replacing: bool = False) -> None:
    """Fail before training when the result could not be written; leaves nothing behind.

    Args:
        replacing: what an interrupted training left there does not count.

    Raises:
        RunError: the folder is taken, or cannot be written to.
    """
    place = out.absolute()
    try:
        with suppress(FileNotFoundError):
            place.lstat()
        if is_taken(out) and not (replacing and is_interim(out)):
            raise RunError(f"{out}: already exists; choose another --out or remove it")
        while not os.path.lexists(place):
            place = place.parent
        with staged(place, folder=True):
            pass
    except OSError as error:
        reason = f"cannot be written to ({error.strerror})"
        raise RunError(f"{out}: {reason}; choose another --out") from None
