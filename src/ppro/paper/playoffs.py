"""The play-off: the best of the last round, and the backbones that suited the other strategies.

The backbone alone, L2B and L2U have searched the backbone's settings apart from each other: what
one of them found may suit the others as well. And the best of fourteen owes something to luck, so
the best few of the last round train once more, on seeds and splits that it did not have.
"""

from __future__ import annotations

from ppro.paper.contest import STRATEGIES, Entry
from ppro.paper.finals import FINALS
from ppro.paper.rounds import Round, different, parts_of
from ppro.paper.store import Store

OWN, EXCHANGED = 4, len(STRATEGIES) - 1
"""The best of the last round, and the first of them with the others' backbones."""


def candidates(name: str, store: Store) -> list[Entry]:
    """What competes; none before the last round has been run for the backbone and both strategies.

    Accuracies are those of the last round; what is exchanged has none of its own yet.
    """
    dataset, strategy = parts_of(name)
    winners = FINALS.winners(dataset, store)
    if not winners:
        return []
    ranked = FINALS.ranking(name, store)
    own = different(ranked, OWN, [])
    theirs = [exchanged(own[0], winner) for s, winner in winners.items() if s != strategy]
    new = different(theirs, EXCHANGED, own)
    return [*own, *new, *different(ranked, OWN + EXCHANGED - len(own) - len(new), [*own, *new])]


def exchanged(own: Entry, other: Entry) -> Entry:
    """The strategy and the controllers of the one with the backbone of the other."""
    settings = other.settings.with_controllers_of(own.settings)
    return Entry(f"{own.method}, backbone of {other.method}", settings, own.validation, 0)


PLAYOFFS = Round(
    "playoffs",
    "The play-off",
    f"The best {OWN} of the last round, and the first of them with the backbone's settings of the "
    f"{EXCHANGED} other strategies' winners",
    first="first of the last round",
    first_seed=4000,
    runs_of_public=10,
    runs_of_random=20,
    candidates=candidates,
)
