"""Which of the recorded settings become the recipe of a graph and a strategy."""

from __future__ import annotations

from dataclasses import dataclass

from ppro.config import Found, Recipe
from ppro.experiments import finals
from ppro.experiments.contest import Entry, contest
from ppro.experiments.store import Store


@dataclass(frozen=True)
class Choice:
    """The entry that won, and how many configurations were searched for all that competed."""

    entry: Entry
    configurations: int


def choose(dataset: str, strategy: str, store: Store) -> Choice | None:
    """The winner of the last round; where that has not been run, the first of the searches.

    The round of a graph counts when the backbone alone and both strategies have had it.

    Args:
        strategy: l2b, l2u, or none for the backbone alone.

    Returns:
        None where nothing is recorded.
    """
    searched = contest(dataset, strategy, store)
    if not searched.entries:
        return None
    winners = {s: finals.winner(f"{dataset}-{s}", store) for s in finals.STRATEGIES}
    final = winners[strategy]
    if final is None or None in winners.values():
        return Choice(searched.entries[0], searched.configurations)
    return Choice(final, searched.configurations + finals.VARIATIONS)


def recipe_of(choice: Choice, known: Recipe) -> Recipe:
    """The recipe of a choice; the paper's number and the note are those known."""
    found = Found(
        method=choice.entry.method,
        configurations=choice.configurations,
        runs=choice.entry.runs,
        validation=round(choice.entry.validation, 2),
    )
    return known.model_copy(update={"settings": choice.entry.settings, "found": found})
