"""The last round of the search for recipes: the best settings again, on more seeds, and near ones.

A search has few runs of each configuration, so the best of many is partly luck. Here the settings
that did best in their ten runs, others that did well in the searches, and variations of the first
train side by side on seeds and splits of their own.
"""

from __future__ import annotations

from dataclasses import replace

from ppro.experiments.contest import Contest, Entry, contest
from ppro.experiments.rounds import Round, different, parts_of
from ppro.experiments.store import Store
from ppro.experiments.variations import variations

FIRST_SEED = 3000
"""Seeds of this round begin here; tables have 0, searches 1000, fresh runs of recipes 2000."""
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
    FIRST_SEED,
    runs_of_public=6,
    runs_of_random=20,
    candidates=_candidates,
)


def markdown(store: Store) -> str:
    """What the first of the searches and the winner reached."""
    about = (
        f"The best {FINALISTS} settings of all searches by their ten runs, {OTHERS} others that "
        f"did well in the searches and {VARIATIONS} variations of the first, on seeds from "
        f"{FIRST_SEED} on, and on splits of their own where splits are random."
    )
    return FINALS.markdown(store, about, "first of the searches")
