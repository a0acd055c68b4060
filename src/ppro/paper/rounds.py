"""The rounds of the choice of recipes: settings compete again, on seeds and splits of their own.

A search has few runs of each configuration, so the best of many is partly luck. In the last round
the settings that did best in their ten runs, others that did well in the searches, and variations
of the first train side by side. In the play-off the best few of them train once more, beside the
first of them with the backbones that suited the other strategies. No round looks at a test node,
and each leaves one file for every graph and strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ppro.data import dataset_info
from ppro.data.names import PUBLIC
from ppro.paper.cells import by_size
from ppro.paper.contest import STRATEGIES, Contest, contest
from ppro.paper.experiment import Candidate, Experiment, Plan
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.paper.variations import variations
from ppro.settings.settings import Settings

FINALISTS, OTHERS, VARIATIONS = 4, 4, 6
"""In the last round: settings that had ten runs, others of the searches, and variations."""
PATIENCE = 200
"""Of those that are new; settings that differ in it alone do not compete with each other."""
OWN, EXCHANGED = 4, len(STRATEGIES) - 1
"""In the play-off: the best of the last round, and the first with the others' backbones."""


def names() -> list[str]:
    """Return the recipes of the paper's graphs."""
    return [f"{dataset}-{strategy}" for dataset in EIGHT for strategy in STRATEGIES]


def parts_of(name: str) -> tuple[str, str]:
    """Return the graph and the strategy of a recipe."""
    dataset, _, strategy = name.rpartition("-")
    return dataset, strategy


@dataclass(frozen=True)
class Round:
    """What competes, on which seeds, and how often.

    Args:
        key: its name, and that of its folder of results.
        title: of its table.
        who: competes, in words.
        first: what the first of its candidates is, in words.
        first_seed: of the runs.
        runs_of_public: runs of each candidate where the split is one.
        runs_of_random: runs where every run has a split of its own.
        new: how many of its candidates are new settings.
        candidates: of a recipe, the one to beat first; none as long as it cannot begin.
    """

    key: str
    title: str
    who: str
    first: str
    first_seed: int
    runs_of_public: int
    runs_of_random: int
    new: int
    candidates: Callable[[str, Store], list[Candidate]]

    def experiments(self, plan: Plan, wanted: Sequence[str] | None = None) -> list[Experiment]:
        """Return the round of every recipe, the largest graphs first; none without searches."""
        if plan.configurations == 0:
            return []
        store, changes = plan.store, plan.changes
        return by_size(self.experiment(name, store, changes) for name in wanted or names())

    def experiment(
        self, name: str, store: Store, changes: Mapping[str, Any] | None = None
    ) -> Experiment:
        """Return the round of a recipe, with some settings changed for all."""
        dataset = parts_of(name)[0]
        split = dataset_info(dataset).splits[0]
        candidates = [
            replace(candidate, settings=candidate.settings.replace(**(changes or {})))
            for candidate in self.candidates(name, store)
        ]
        return Experiment(
            f"{self.key}/{name}",
            dataset,
            split,
            tuple(candidates),
            self.runs_of_public if split == PUBLIC else self.runs_of_random,
            self.first_seed,
            tested=False,
            facts={"recipe": name},
        )

    def ranking(self, name: str, store: Store) -> list[Candidate]:
        """Return all that competed, the best mean validation accuracy first; none before it is run.

        Of equals the earlier is first.
        """
        return store.once((self.key, name), lambda: self._ranking(name, store))

    def _ranking(self, name: str, store: Store) -> list[Candidate]:
        wanted = self.experiment(name, store)
        record = wanted.record(store)
        if record is None:
            return []
        found = [
            replace(candidate, validation=one["val_mean"], runs=record["runs"])
            for candidate, one in zip(wanted.candidates, record["results"], strict=False)
        ]
        return sorted(found, key=lambda candidate: -candidate.validation)

    def winners(self, dataset: str, store: Store) -> dict[str, Candidate]:
        """Return the best of each strategy; none until the backbone alone and both have had it."""
        ranked = {s: self.ranking(f"{dataset}-{s}", store) for s in STRATEGIES}
        return {s: found[0] for s, found in ranked.items()} if all(ranked.values()) else {}


def different(
    candidates: Iterable[Candidate], number: int, taken: Sequence[Candidate]
) -> list[Candidate]:
    """Return the first that differ from each other, and from those taken, in more than patience."""
    seen, found = [_but_patience(candidate) for candidate in taken], list[Candidate]()
    for candidate in candidates:
        if len(found) == number:
            break
        if (settings := _but_patience(candidate)) not in seen:
            found.append(candidate)
            seen.append(settings)
    return found


def _but_patience(candidate: Candidate) -> Settings:
    return candidate.settings.replace(patience=1)


def finalists(searched: Contest) -> list[Candidate]:
    """Return what competes in the last round; accuracies as they were known before."""
    chosen = different(searched.entries, FINALISTS, [])
    if not chosen:
        return []
    first = chosen[0]
    near = [
        Candidate(f"{first.method}, varied", settings, first.validation)
        for settings in variations(first.settings, VARIATIONS)
    ]
    patient = (replace(c, settings=c.settings.replace(patience=PATIENCE)) for c in searched.others)
    others = different(patient, OTHERS + FINALISTS - len(chosen), [*chosen, *near])
    return [*chosen, *others, *near]


def of_playoff(name: str, store: Store) -> list[Candidate]:
    """Return what competes in the play-off; none before all have had the last round.

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


def exchanged(own: Candidate, other: Candidate) -> Candidate:
    """Return the strategy and the controllers of the one with the backbone of the other."""
    settings = other.settings.with_controllers_of(own.settings)
    return Candidate(f"{own.method}, backbone of {other.method}", settings, own.validation)


FINALS = Round(
    "finals",
    "The last round of the search for recipes",
    f"The best {FINALISTS} settings of all searches by their ten runs, {OTHERS} others that did "
    f"well in the searches and {VARIATIONS} variations of the first",
    first="first of the searches",
    first_seed=3000,
    runs_of_public=6,
    runs_of_random=20,
    new=VARIATIONS,
    candidates=lambda name, store: finalists(contest(*parts_of(name), store)),
)
PLAYOFFS = Round(
    "playoffs",
    "The play-off",
    f"The best {OWN} of the last round, and the first of them with the backbone's settings of the "
    f"{EXCHANGED} other strategies' winners",
    first="first of the last round",
    first_seed=4000,
    runs_of_public=10,
    runs_of_random=20,
    new=EXCHANGED,
    candidates=of_playoff,
)
