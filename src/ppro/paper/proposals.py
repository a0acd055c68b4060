"""What each round of the choice of recipes proposes."""

from __future__ import annotations

from dataclasses import dataclass

from ppro.paper import finals, playoffs
from ppro.paper.contest import Entry, contest
from ppro.paper.finals import FINALS
from ppro.paper.playoffs import PLAYOFFS
from ppro.paper.store import Store

SEARCHES = "searches"
ROUNDS = (SEARCHES, FINALS.key, PLAYOFFS.key)


@dataclass(frozen=True)
class Choice:
    """The entry that won, and how many configurations were searched for all that competed."""

    entry: Entry
    configurations: int


def proposals(dataset: str, strategy: str, store: Store) -> dict[str, Choice]:
    """The winner of the searches and of each round, in their order.

    A round of a graph counts when the backbone alone and both strategies have had it.

    Args:
        strategy: l2b, l2u, or none for the backbone alone.
    """
    searched = contest(dataset, strategy, store)
    if not searched.entries:
        return {}
    number = searched.configurations
    found = {SEARCHES: Choice(searched.entries[0], number)}
    for round_, new in ((FINALS, finals.VARIATIONS), (PLAYOFFS, playoffs.EXCHANGED)):
        winners, number = round_.winners(dataset, store), number + new
        if winners:
            found[round_.key] = Choice(winners[strategy], number)
    return found
