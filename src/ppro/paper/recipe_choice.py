"""Which of the recorded settings become the recipe of a graph and a strategy."""

from __future__ import annotations

from dataclasses import replace

from ppro.paper import fresh
from ppro.paper.proposals import Choice, proposals
from ppro.paper.store import Store
from ppro.settings.recipe import Found, Recipe


def choose(dataset: str, strategy: str, store: Store) -> Choice | None:
    """What the searches or a round propose, whichever validates best in the fresh runs.

    A round's own accuracy flatters its winner, the best of many; the fresh runs have chosen
    nothing before. Where none of the proposals has been measured so, the latest is taken.

    Args:
        strategy: l2b, l2u, or none for the backbone alone.

    Returns:
        None where nothing is recorded.
    """
    choices = list(proposals(dataset, strategy, store).values())
    if not choices:
        return None
    measured = [c for choice in choices if (c := _measured(dataset, choice, store)) is not None]
    if not measured:
        return choices[-1]
    runs = max(choice.entry.runs for choice in measured)
    best = max(
        (choice for choice in measured if choice.entry.runs == runs),
        key=lambda choice: choice.entry.validation,
    )
    return replace(best, configurations=choices[-1].configurations)


def _measured(dataset: str, choice: Choice, store: Store) -> Choice | None:
    """The choice with the validation accuracy of its fresh runs."""
    name = f"{dataset}-{choice.entry.settings.strategy}"
    record = fresh.measured(name, choice.entry.settings, store)
    if record is None:
        return None
    entry = replace(choice.entry, validation=record["val_mean"], runs=record["runs"])
    return replace(choice, entry=entry)


def recipe_of(choice: Choice, known: Recipe) -> Recipe:
    """The recipe of a choice; the paper's number and the note are those known."""
    found = Found(
        method=choice.entry.method,
        configurations=choice.configurations,
        runs=choice.entry.runs,
        validation=round(choice.entry.validation, 2),
    )
    return known.model_copy(update={"settings": choice.entry.settings, "found": found})
