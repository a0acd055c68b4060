"""Which of the recorded settings become the recipe of a graph and a strategy."""

from __future__ import annotations

from dataclasses import dataclass

from ppro.config import Found, Recipe
from ppro.experiments import finals, playoffs
from ppro.experiments.contest import Entry, contest
from ppro.experiments.finals import FINALS
from ppro.experiments.playoffs import PLAYOFFS
from ppro.experiments.store import Store


@dataclass(frozen=True)
class Choice:
    """The entry that won, and how many configurations were searched for all that competed."""

    entry: Entry
    configurations: int


def choose(dataset: str, strategy: str, store: Store) -> Choice | None:
    """The winner of the latest round that is whole: the play-off, the last round, the searches.

    A round of a graph is whole when the backbone alone and both strategies have had it.

    Args:
        strategy: l2b, l2u, or none for the backbone alone.

    Returns:
        None where nothing is recorded.
    """
    choices = by_round(dataset, strategy, store)
    return next(reversed(choices.values())) if choices else None


def by_round(dataset: str, strategy: str, store: Store) -> dict[str, Choice]:
    """What each round chose, in their order; those that are not whole are left out."""
    searched = contest(dataset, strategy, store)
    if not searched.entries:
        return {}
    number = searched.configurations
    choices = {"searches": Choice(searched.entries[0], number)}
    for round_, new in ((FINALS, finals.VARIATIONS), (PLAYOFFS, playoffs.EXCHANGED)):
        winners, number = round_.winners(dataset, store), number + new
        if winners:
            choices[round_.key] = Choice(winners[strategy], number)
    return choices


def recipe_of(choice: Choice, known: Recipe) -> Recipe:
    """The recipe of a choice; the paper's number and the note are those known."""
    found = Found(
        method=choice.entry.method,
        configurations=choice.configurations,
        runs=choice.entry.runs,
        validation=round(choice.entry.validation, 2),
    )
    return known.model_copy(update={"settings": choice.entry.settings, "found": found})
