"""The last round of the search for recipes: the best settings again, on more seeds, and near ones.

A search has few runs of each configuration, so the best of many is partly luck. Here the settings
that did best in their ten runs, others that did well in the searches, and variations of the first
train side by side on seeds and splits of their own.
"""

from __future__ import annotations

from dataclasses import replace

from ppro.paper.contest import Contest, Entry, contest
from ppro.paper.rounds import Round, different, parts_of
from ppro.paper.store import Store
from ppro.paper.variations import variations

FINALISTS, OTHERS, VARIATIONS = 4, 4, 6
"""Settings that had ten runs, others of the searches, and variations of the first."""
PATIENCE = 200
"""Of those that are new; settings that differ in it alone do not compete with each other."""


def _candidates(name: str, store: Store) -> list[Entry]:
    return candidates(contest(*parts_of(name), store))


def candidates(searched: Contest) -> list[Entry]:
    """What competes; accuracies as they were known before."""
    chosen = different(searched.entries, FINALISTS, [])
    if not chosen:
        return []
    first = chosen[0]
    near = [
        Entry(f"{first.method}, varied", settings, first.validation, 0)
        for settings in variations(first.settings, VARIATIONS)
    ]
    patient = [replace(e, settings=e.settings.replace(patience=PATIENCE)) for e in searched.others]
    others = different(patient, OTHERS + FINALISTS - len(chosen), [*chosen, *near])
    return [*chosen, *others, *near]


FINALS = Round(
    "finals",
    "The last round of the search for recipes",
    f"The best {FINALISTS} settings of all searches by their ten runs, {OTHERS} others that did "
    f"well in the searches and {VARIATIONS} variations of the first",
    first="first of the searches",
    first_seed=3000,
    runs_of_public=6,
    runs_of_random=20,
    candidates=_candidates,
)
