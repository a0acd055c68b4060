"""The top of a report: scores over all runs, sizes, settings."""

from typing import Any

import torch

from ppro.graph.core import UNLABELLED
from ppro.insight.explain import ExplainedRun
from ppro.insight.priorities import diagnosis_of, priorities_of
from ppro.settings.settings import PPRO, Settings, part_of
from ppro.training.backbone_alone import difference_in_words
from ppro.training.diagnosis import Diagnosis
from ppro.training.metrics import Metric, shown_metrics
from ppro.training.verdicts import verdicts
from ppro.training.versions import versions


def summary_data(run: ExplainedRun) -> dict[str, Any]:
    """Return what the page says first."""
    config, best = run.config, run.saved.trained.best_run
    chosen = f", the one with the best validation {_metrics(run)[-1].title}"
    return {
        "dataset": config.dataset,
        "method": _method(run),
        "run": run.index,
        "which": f"run {run.index}{chosen if run.index == best else ''}",
        "runs": _runs(run),
        "tiles": _tiles(run),
        "findings": [f"{line[0].upper()}{line[1:]}." for line in _findings(run)],
        "priorities": [] if (found := priorities_of(run)) is None else found.sentences(),
        "settings": [[key, _shown(value)] for key, value in _settings(run).items()],
        "versions": versions(),
    }


def _findings(run: ExplainedRun) -> list[str]:
    return [*verdicts(run.saved.facts), *diagnosis_of(run).verdicts()]


def _method(run: ExplainedRun) -> str:
    settings: Settings = run.config.settings
    network = part_of(settings).title
    if settings.model != PPRO:
        return str(network)
    title = run.strategy.title
    return f"{title} on {network}" if run.strategy.learns else f"{network}, {title}"


def _settings(run: ExplainedRun) -> dict[str, Any]:
    found: dict[str, Any] = {"dataset": run.config.dataset, "split": run.config.split}
    return found | run.config.options | run.config.settings.flat()


def _metrics(run: ExplainedRun) -> list[type[Metric]]:
    return shown_metrics(run.config.settings.training.metric)


def _runs(run: ExplainedRun) -> dict[str, Any]:
    """Return the table of the runs: its head, and the text of its cells."""
    parts = (("val", "validation"), ("test", "test"))
    columns = [(metric, part, name) for metric in _metrics(run) for part, name in parts]
    differ, cells = _differences(run)
    rows = [
        [str(row["run"]), str(row["seed"])]
        + [_cell(metric, _value(row, metric, part)) for metric, part, _ in columns]
        + cells[number]
        for number, row in enumerate(run.saved.facts["per_run"])
    ]
    head = ["run", "seed", *(f"{name} {m.title}" for m, _, name in columns), *differ]
    return {"head": head, "rows": rows}


def _differences(run: ExplainedRun) -> tuple[list[str], list[list[str]]]:
    """Return how far the nodes of every run differ, as columns of the table of the runs."""
    found, count = Diagnosis.read(run.saved.facts.get("diagnosis")), run.config.runs
    head, cells = list[str](), [list[str]() for _ in range(count)]
    if found is None:
        return head, cells
    if found.steps is not None:
        head += ["most common step", "nodes at it"]
        for row, steps in zip(cells, found.steps, strict=True):
            row += [str(steps.common), f"{100 * max(steps.shares):.1f} %"]
    if found.priorities is not None:
        head += ["priorities, mean", "90 % within"]
        for row, one in zip(cells, found.priorities, strict=True):
            row += [f"{one.mean:.2f}", f"{one.low:.2f} to {one.high:.2f}"]
    return head, cells


def _cell(metric: type[Metric], value: float) -> str:
    return metric.shown(value) if value == value else "–"


def _value(facts: dict[str, Any], metric: type[Metric], part: str, what: str = "") -> float:
    """Return a number of ``result.json``, where accuracies are in percent."""
    if not metric.is_accuracy:
        found = facts.get(f"{part}_score{what}")
    else:
        found = facts[f"{part}{what or '_accuracy'}"]
    return float("nan") if found is None else found / (100 if metric.is_accuracy else 1)


def _tiles(run: ExplainedRun) -> list[dict[str, str]]:
    """Return the few numbers that matter most, each with a line below it."""
    config, count = run.config, run.config.runs
    seed = config.settings.seed
    seeds = f"seed {seed}" if count == 1 else f"seeds {seed} to {seed + count - 1}"
    below = {"test": f"{_count(count, 'run')}, {seeds}", "val": f"split {config.split}"}
    names = {"test": "Test", "val": "Validation"}
    tiles = [
        _tile(f"{names[part]} {metric.title}", _spread(run, metric, part), below[part])
        for metric in _metrics(run)
        for part in ("test", "val")
    ]
    if config.paper is not None:
        spread = "" if config.paper.std is None else f" ± {config.paper.std:g}"
        tiles.append(_tile("The paper", f"{config.paper.accuracy:g}{spread} %", config.paper.table))
    tiles += _against_backbone(run)
    graph = run.graph
    unlabelled = int((graph.labels == UNLABELLED).sum())
    classes = f"{graph.num_classes} classes" + (f", {unlabelled:,} without" if unlabelled else "")
    tiles.append(_tile("Nodes", f"{graph.num_nodes:,}", f"{graph.num_edges:,} edges, {classes}"))
    return tiles + _learned_tiles(run)


def _against_backbone(run: ExplainedRun) -> list[dict[str, str]]:
    """Return the paired difference from the bare backbone, where ``--compare`` has measured it."""
    found = run.saved.facts.get("against_backbone")
    if found is None:
        return []
    value, _, told = difference_in_words(found).partition(" over ")
    depth = f"alone at depth {found['steps']}: {found['test_mean']:.2f}"
    return [_tile("Against the backbone", value, f"{told}; {depth}" if told else depth)]


def _learned_tiles(run: ExplainedRun) -> list[dict[str, str]]:
    found, tiles = run.explanation, []
    if found.chosen:
        last, steps = found.last_step, found.steps.to(torch.float64)
        early = 100 * float((found.steps < last).double().mean())
        mean = f"{float(steps.mean()):.1f} of {last}"
        tiles.append(_tile("Mean step", mean, f"{early:.0f} % below {last}"))
    if found.priorities is not None:
        low, high = torch.quantile(found.priorities, torch.tensor([0.05, 0.95])).tolist()
        middle = f"{float(found.priorities.median()):.2f}"
        tiles.append(_tile("Median priority", middle, f"90 % within {low:.2f} to {high:.2f}"))
    return tiles


def _tile(name: str, value: str, below: str) -> dict[str, str]:
    return {"name": name, "value": value, "below": below}


def _spread(run: ExplainedRun, metric: type[Metric], part: str) -> str:
    mean, std = (_value(run.saved.facts, metric, part, what) for what in ("_mean", "_std"))
    return metric.shown(mean, None if run.config.runs == 1 else std)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
