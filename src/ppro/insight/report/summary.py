"""The top of a report: accuracies over all runs, sizes, settings."""

from __future__ import annotations

from typing import Any

import torch

from ppro.graph.core import UNLABELLED
from ppro.insight.explain import ExplainedRun
from ppro.runs.runfolder import mean_std, run_settings
from ppro.runs.versions import versions
from ppro.training.fit import accuracy


def summary_data(run: ExplainedRun) -> dict[str, Any]:
    """What the page says first."""
    config = run.config
    return {
        "dataset": config.dataset,
        "graph": run.graph.name,
        "split": config.split,
        "model": config.settings.model,
        "strategy": config.settings.strategy,
        "backbone": config.settings.backbone,
        "run": run.index,
        "runs": _runs(run),
        "tiles": _tiles(run),
        "settings": [[key, _shown(value)] for key, value in _settings(run).items()],
        "versions": versions(),
    }


def _settings(run: ExplainedRun) -> dict[str, Any]:
    found: dict[str, Any] = {"dataset": run.config.dataset, "split": run.config.split}
    return found | run.config.options | run.config.settings.model_dump()


def _runs(run: ExplainedRun) -> list[dict[str, Any]]:
    val, test = (
        accuracy(run.table, run.graph.labels, masks).tolist()
        for masks in (run.splits.val, run.splits.test)
    )
    return [
        {"run": r, "seed": settings.seed, "val": val[r], "test": test[r]}
        for r, settings in enumerate(run_settings(run.config))
    ]


def _tiles(run: ExplainedRun) -> list[dict[str, str]]:
    """The few numbers that matter most, each with a line below it."""
    config, count = run.config, run.config.runs
    seed = config.settings.seed
    seeds = f"seed {seed}" if count == 1 else f"seeds {seed} to {seed + count - 1}"
    tiles = [
        _tile("Test accuracy", _spread(run, run.splits.test), f"{_count(count, 'run')}, {seeds}"),
        _tile("Validation accuracy", _spread(run, run.splits.val), f"split {config.split}"),
    ]
    if config.paper is not None:
        spread = "" if config.paper.std is None else f" ± {config.paper.std:g}"
        tiles.append(_tile("The paper", f"{config.paper.accuracy:g}{spread} %", config.paper.table))
    graph = run.graph
    unlabelled = int((graph.labels == UNLABELLED).sum())
    classes = f"{graph.num_classes} classes" + (f", {unlabelled:,} without" if unlabelled else "")
    tiles.append(_tile("Nodes", f"{graph.num_nodes:,}", f"{graph.num_edges:,} edges, {classes}"))
    return tiles + _learned_tiles(run)


def _learned_tiles(run: ExplainedRun) -> list[dict[str, str]]:
    found, tiles = run.explanation, []
    if found.decisions is not None:
        steps = found.steps.to(torch.float64)
        early = 100 * float((found.steps < found.probabilities.shape[1] - 1).double().mean())
        last = found.probabilities.shape[1] - 1
        tiles.append(
            _tile(
                "Mean step", f"{float(steps.mean()):.1f} of {last}", f"{early:.0f} % below {last}"
            )
        )
    if found.priorities is not None:
        low, high = torch.quantile(found.priorities, torch.tensor([0.05, 0.95])).tolist()
        middle = float(found.priorities.median())
        tiles.append(
            _tile("Median priority", f"{middle:.2f}", f"90 % within {low:.2f} to {high:.2f}")
        )
    return tiles


def _tile(name: str, value: str, below: str) -> dict[str, str]:
    return {"name": name, "value": value, "below": below}


def _spread(run: ExplainedRun, masks: torch.Tensor) -> str:
    mean, std = mean_std(accuracy(run.table, run.graph.labels, masks))
    return f"{mean:.2f} %" if run.config.runs == 1 else f"{mean:.2f} ± {std:.2f} %"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _shown(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
