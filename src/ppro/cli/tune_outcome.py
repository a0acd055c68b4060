"""A search and its result, for a reader."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ppro.cli import console
from ppro.cli.outcome import count
from ppro.settings.recipe import Recipe

if TYPE_CHECKING:
    from ppro.search.tuning.session import Session


def headline(session: Session) -> str:
    """What is searched, how, and how far it is."""
    graph, base, seeds = session.subject.graph, session.evaluator.base, session.evaluator.seeds
    what = base.model if base.model != "ppro" else f"{base.strategy} on {base.backbone}"
    size = "countless" if session.space.size is None else f"{session.space.size:,}"
    device = session.evaluator.device.type
    lines = (
        f"{session.subject.recipe.dataset}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"split {session.subject.splits.name}",
        f"searching {what}: {session.limits.trials} of {size} configurations of the space "
        f"'{session.space_name}', seeds {seeds[0]} to {seeds[-1]}",
        f"batches of {session.limits.batch} configurations, chosen for this graph on {device}"
        if session.wishes.batch is None
        else f"batches of {session.limits.batch} configurations",
        f"study {session.wishes.study}: {session.study.counts().tried} configurations tried so far",
        session.place.warning,
    )
    return "\n".join(console.paragraph(line) for line in lines if line)


def show(
    session: Session,
    best: Recipe | None,
    facts: dict[str, Any],
    notes: Sequence[str],
    where: Console,
) -> None:
    """Print what was found."""
    tried = f"{facts['configurations']} ({facts['pruned']} pruned after one seed)"
    rows = [("configurations", tried)]
    if facts["running"]:
        rows.append(("other workers", f"{count(facts['running'], 'configuration')} under way"))
    if best is not None:
        chosen = session.space.changes(session.study.complete()[0].params)
        rows += [
            ("best validation", f"{facts['best']['validation_mean']:.2f} %"),
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
