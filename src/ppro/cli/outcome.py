"""The result of a training or of a search, for a reader."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ppro.cli import console
from ppro.cli.console import count
from ppro.cli.measured import advice, class_table, other_metrics, title_of_classes

if TYPE_CHECKING:
    from ppro.graph.core import Graph
    from ppro.runs.config import RunConfig
    from ppro.search.tuning.session import Session
    from ppro.settings.recipe import Recipe
    from ppro.settings.settings import Settings

MAX_BAR = 40
COMPARISON = "against_backbone"
"""What the facts of a run call the difference from the bare backbone."""


def method_of(settings: Settings) -> str:
    """Return what is trained, in words."""
    if settings.model != "ppro":
        return settings.model
    if settings.strategy == "none":
        return f"{settings.backbone} without controllers"
    return f"{settings.strategy} on {settings.backbone}"


def headline_of_training(config: RunConfig, graph: Graph, notes: Sequence[str]) -> str:
    """Return what is trained, on what, and what to know of it."""
    settings = config.settings
    size = f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges"
    work = f"{console.count(config.runs, 'run')} from seed {settings.seed}"
    epochs = console.count(settings.training.epochs, "epoch")
    lines = (
        f"{config.dataset}: {size}, split {config.split}",
        f"training {method_of(settings)}: {work}, at most {epochs}",
        *notes,
    )
    return "\n".join(console.paragraph(line) for line in lines if line)


def show_training(facts: dict[str, Any], config: RunConfig, where: Console) -> None:
    """Print the result of a training for a reader."""
    runs, epochs = count(facts["runs"], "run"), count(facts["epochs"], "epoch")
    rows = [
        ("test accuracy", _spread(facts, "test")),
        ("validation accuracy", _spread(facts, "val")),
        *_scores(facts),
        *_against_backbone(facts),
        *([] if config.source else [("the paper", _paper(facts, config))]),
        ("trained", f"{runs}, {epochs}, {facts['seconds']:.1f} s"),
        ("saved in", facts["out"]),
        *([("all labels", f"ppro predict {facts['out']} --refit")] if "refit" in facts else []),
    ]
    where.print()
    where.print("steps that the nodes chose (share of all nodes, all runs)")
    where.print(histogram(facts["steps"], "█▏" if where.encoding.startswith("utf") else "#."))
    where.print()
    weighted = bool(config.settings.training.class_weight)
    for line in [*_collapsed(facts, config.settings), *advice(facts, weighted=weighted)]:
        where.print(console.paragraph(line))
        where.print()
    if lines := class_table(facts):
        where.print(title_of_classes(facts))
        where.print(lines)
        where.print()
    if line := other_metrics(facts):
        where.print(console.paragraph(line))
        where.print()
    where.print(console.aligned(rows))


def _against_backbone(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the bare backbone reached, and the paired difference, where it was compared."""
    from ppro.parts import METRICS
    from ppro.training.backbone_alone import difference_in_words

    found = facts.get(COMPARISON)
    if found is None:
        return []
    depth = f"at depth {found['steps']}, the best of {', '.join(found['tried'])} by validation"
    spread = "" if found["runs"] < 2 else f" ± {found['test_std']:.2f}"
    unit = " %" if METRICS.get(found["metric"]).percent else ""
    alone = f"{found['test_mean']:.2f}{spread}{unit}, {depth}"
    return [("backbone alone", alone), ("paired difference", difference_in_words(found))]


def _collapsed(facts: dict[str, Any], settings: Settings) -> list[str]:
    """Return what has collapsed, each with what to do about it."""
    from ppro.training.diagnosis import Diagnosis

    found = Diagnosis.read(facts["diagnosis"])
    assert found is not None
    tips = []
    if found.shares_a_step:
        tips.append(_for_steps(settings, compared=COMPARISON in facts))
    if found.has_equal_priorities:
        tips.append(_for_priorities(settings, capped=found.is_capped))
    return [f"{line}; {tip}" for line, tip in zip(found.verdicts(), tips, strict=True)]


def _for_steps(settings: Settings, *, compared: bool) -> str:
    """Return what to do where nearly all nodes share a step."""
    tips = [] if compared else ["--compare tells whether one depth for all does as well"]
    if settings.controllers.teaching == "paper":
        tips.append("--set teaching=compare teaches by comparing steps")
    elif settings.controllers.judges == "train":
        tips.append("--set judges=folds lets backbones judge that have not seen the node")
    return ", ".join(tips) or "one depth may be all that this graph asks for"


def _for_priorities(settings: Settings, *, capped: bool) -> str:
    """Return what to do where all priorities are equal."""
    from ppro.training.diagnosis import scales_priorities

    chosen = settings.controllers
    if scales_priorities(settings):
        return f"a smaller lambda1 (--set lambda1={chosen.lambda1 / 4:g}) lets them differ more"
    larger = f"a larger lambda1 than {chosen.lambda1:g} or " if capped else ""
    return f"{larger}--set priority_scale=mean lets them differ by the nodes' errors"


def _spread(facts: dict[str, Any], part: str) -> str:
    mean, std = facts[f"{part}_mean"], facts[f"{part}_std"]
    if math.isnan(mean):
        return "no node to measure it on"
    return f"{mean:.2f} %" if facts["runs"] == 1 else f"{mean:.2f} ± {std:.2f} %"


def _scores(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return test and validation score of a metric that is not the accuracy."""
    from ppro.training.metrics import shown_metrics

    rows = []
    for metric in shown_metrics(facts["metric"])[1:]:
        for part, name in (("test", "test"), ("val", "validation")):
            mean, std = facts[f"{part}_score_mean"], facts[f"{part}_score_std"]
            shown = metric.shown(mean, None if facts["runs"] == 1 else std)
            rows.append((f"{name} {metric.title}", shown))
    return rows


def _paper(facts: dict[str, Any], config: RunConfig) -> str:
    if config.paper is None:
        return "no number for this dataset, split and strategy"
    spread = "" if config.paper.std is None else f" ± {config.paper.std}"
    difference = facts["test_mean"] - config.paper.accuracy
    return f"{config.paper.accuracy}{spread} % ({config.paper.table}); ours {difference:+.2f}"


def histogram(shares: Sequence[float], ink: str = "█▏") -> str:
    """Return bars for the share of nodes at each step; steps that no node chose are left out.

    Args:
        ink: what a bar is drawn with, and the trace of a share too small for a bar.
    """
    peak = max(shares)
    lines: list[str] = []
    before = None
    for k, share in enumerate(shares):
        if share == 0:
            continue
        if before is not None and k > before + 1:
            lines.append("  ...")
        bar = ink[0] * round(MAX_BAR * share / peak) or ink[1]
        lines.append(f"  {k:>3}  {100 * share:5.1f} %  {bar}")
        before = k
    return "\n".join(lines)


def headline_of_search(session: Session) -> str:
    """Return what is searched, how, and how far it is."""
    graph, base, seeds = session.subject.graph, session.evaluator.base, session.evaluator.seeds
    size = "countless" if session.space.size is None else f"{session.space.size:,}"
    device = session.evaluator.device.type
    lines = (
        f"{session.subject.recipe.dataset}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"split {session.subject.splits.name}",
        f"searching {method_of(base)}: {session.limits.trials} of {size} configurations of the "
        f"space '{session.space_name}', seeds {seeds[0]} to {seeds[-1]}",
        f"batches of {session.limits.batch} configurations, chosen for this graph on {device}"
        if session.wishes.batch is None
        else f"batches of {session.limits.batch} configurations",
        f"study {session.wishes.study}: {session.study.counts().tried} configurations tried so far",
        session.place.warning,
    )
    return "\n".join(console.paragraph(line) for line in lines if line)


def show_search(
    session: Session,
    best: Recipe | None,
    facts: dict[str, Any],
    notes: Sequence[str],
    where: Console,
) -> None:
    """Print what was found."""
    from ppro.parts import METRICS

    tried = f"{facts['configurations']} ({facts['pruned']} pruned after one seed)"
    rows = [("configurations", tried)]
    if facts["running"]:
        rows.append(("other workers", f"{count(facts['running'], 'configuration')} under way"))
    if best is not None:
        metric = METRICS.get(facts["metric"])
        reached = metric.shown(facts["best"]["validation_mean"] / 100)
        chosen = session.space.changes(session.study.complete()[0].params)
        rows += [
            (f"best validation {metric.title}", reached),
            ("chosen", ", ".join(f"{key} {value}" for key, value in chosen.items())),
            *[("what mattered", _mattered(facts["importance"]))][: len(facts["importance"])],
            ("recipe", str(session.wishes.out)),
            ("record, pictures", str(session.wishes.folder)),
        ]
    where.print()
    where.print(console.fields(rows))
    for note in notes:
        where.print(note)
    if best is None:
        where.print("no configuration has run on every seed yet; run the same command again")
    else:
        graph = "… (the same graph)" if session.subject.own else best.dataset
        where.print(f"ppro train {graph} --recipe {shlex.quote(str(session.wishes.out))}")


def _mattered(importances: dict[str, float]) -> str:
    return ", ".join(f"{key} {100 * share:.0f} %" for key, share in list(importances.items())[:4])
