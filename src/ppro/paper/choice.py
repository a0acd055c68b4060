"""Which of the recorded settings become the recipe of a graph and a strategy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ppro.data import PAPERS, dataset_info
from ppro.data.names import PUBLIC
from ppro.paper import fresh
from ppro.paper.cells import Cell, by_size
from ppro.paper.contest import METHODS, STRATEGIES, candidate_of, contest
from ppro.paper.differing import differs, is_close, pick
from ppro.paper.experiment import Candidate, Experiment, Plan
from ppro.paper.rounds import FINALS, PLAYOFFS, parts_of
from ppro.paper.store import Store
from ppro.paper.tables import FADING
from ppro.paper.taught import may_be_equal, of_mean_one, otherwise
from ppro.search.offers import ACTOR, DESIGN, Offer
from ppro.settings.recipe import Found, Recipe
from ppro.training.backbone_alone import BARE

SEARCHES, LATER, OFFERED = "searches", "later", "offers"
ROUNDS = (SEARCHES, FINALS.key, PLAYOFFS.key, LATER, OFFERED)
"""The searches that the rounds rest on, the rounds, and the searches that came after them: those of
other spaces or of fading labels, and those of equal offers."""
LATER_OFFERS = (Offer(DESIGN), Offer(ACTOR))
FIRST_SEED = 5000
"""Proposals are decided between on seeds from here on, which nothing else uses."""
ON_ONE_SPLIT = 3
"""Times the runs of a plan where all have one split: proposals differ less than seeds."""


def names() -> list[str]:
    """Return the recipes that are decided about: of the paper's graphs and the corrected ones."""
    return [f"{dataset}-{strategy}" for dataset in PAPERS for strategy in STRATEGIES]


@dataclass(frozen=True)
class Proposal:
    """The candidate that won, and how many configurations were searched for all that competed."""

    candidate: Candidate
    configurations: int


def proposals(dataset: str, strategy: str, store: Store) -> dict[str, Proposal]:
    """Return the winner of the searches and of each round, in their order.

    A round of a graph, and equal offers, count when the backbone alone and both strategies have had
    them.

    Args:
        strategy: l2b, l2u, or none for the backbone alone.
    """
    searched = contest(dataset, strategy, store)
    if not searched.entries:
        return {}
    number = searched.configurations
    found = {SEARCHES: Proposal(searched.entries[0], number)}
    for round_ in (FINALS, PLAYOFFS):
        winners, number = round_.winners(dataset, store), number + round_.new
        if winners:
            found[round_.key] = Proposal(winners[strategy], number)
    later = _later(dataset, strategy, store)
    if later is not None:
        number += later.configurations
        found[LATER] = replace(later, configurations=number)
    offered = {one: store.one(f"offers/{dataset}/{one}") for one in METHODS}
    if None not in offered.values() and (own := offered[strategy]) is not None:
        number += own["configurations"]
        found[OFFERED] = Proposal(candidate_of(own, own["runs"]), number)
    return found


def _later(dataset: str, strategy: str, store: Store) -> Proposal | None:
    """Return the best of the searches that came after the rounds, by its ten runs."""
    split, method = dataset_info(dataset).splits[0], METHODS[strategy]
    cells = [Cell(dataset, split, method, offer=offer) for offer in LATER_OFFERS]
    # Under a strategy the priorities of the paper let labels fade.
    cells += [Cell(dataset, split, FADING)] if strategy == BARE else []
    found = [result for cell in cells if (result := store.one(cell.place)) is not None]
    if not found:
        return None
    best = max(found, key=lambda result: float(result["val_mean"]))
    searched = sum(result["configurations"] for result in found)
    return Proposal(candidate_of(best, best["runs"]), searched)


def decision(name: str, store: Store, plan: Plan | None = None) -> Experiment:
    """Return the runs that decide between all that was proposed for a recipe; no test node is seen.

    Args:
        name: of the recipe.
    """
    dataset, strategy = parts_of(name)
    plan = plan or Plan(store.root)
    proposed = [one.candidate for one in proposals(dataset, strategy, store).values()]
    settings = [candidate.settings for candidate in proposed]
    candidates = tuple(
        replace(candidate, settings=candidate.settings.replace(**plan.changes))
        for i, candidate in enumerate(proposed)
        if candidate.settings not in settings[:i]
    )
    return _deciding(f"decisions/{name}", name, candidates, plan)


def retaught(name: str, store: Store, plan: Plan | None = None) -> Experiment | None:
    """Return the runs of a decision's winner under controllers that are taught in other ways.

    They are on the seeds of the decision. There are none before it is made, and where the nodes of
    the winner differ in their steps.
    """
    first = decision(name, store, plan)
    record = first.record(store)
    if record is None or parts_of(name)[1] == BARE:
        return None
    results = record["results"][: len(first.candidates)]
    place = pick(results, first.split)
    if differs(results[place]):
        return None
    winner = first.candidates[place]
    candidates = tuple(replace(winner, settings=one) for one in otherwise(winner.settings))
    return _deciding(f"taught/{name}", name, candidates, plan or Plan(store.root))


def rescaled(name: str, store: Store, plan: Plan | None = None) -> Experiment | None:
    """Return the runs of what is taken with priorities of mean 1, where its own may all be equal.

    They are on the seeds of the decision too. There are none as long as other ways to teach it may
    still be taken.
    """
    tried, taught = _tried(name, store), retaught(name, store)
    waits = taught is not None and taught.record(store) is None
    if not tried or waits or parts_of(name)[1] == BARE:
        return None
    winner, _ = tried[_pick(name, tried)]
    if not may_be_equal(winner.settings):
        return None
    candidate = replace(winner, settings=of_mean_one(winner.settings))
    return _deciding(f"rescaled/{name}", name, (candidate,), plan or Plan(store.root))


def _deciding(place: str, name: str, candidates: tuple[Candidate, ...], plan: Plan) -> Experiment:
    dataset, _ = parts_of(name)
    split = dataset_info(dataset).splits[0]
    runs = fresh.runs_on(dataset, plan) * (ON_ONE_SPLIT if split == PUBLIC else 1)
    facts = {"recipe": name}
    return Experiment(
        place, dataset, split, candidates, runs, FIRST_SEED, tested=False, facts=facts
    )


def decisions(plan: Plan, wanted: Sequence[str] | None = None) -> list[Experiment]:
    """Return what decides between proposals, and what follows.

    One alone is measured too, since it may be taught otherwise; a backbone alone is taught nothing.
    """
    if plan.configurations == 0:
        return []
    named = wanted or names()
    first = {name: decision(name, plan.store, plan) for name in named}
    least = {name: 2 if parts_of(name)[1] == BARE else 1 for name in named}
    found = [one for name, one in first.items() if len(one.candidates) >= least[name]]
    later = [again(name, plan.store, plan) for again in (retaught, rescaled) for name in named]
    follow = [one for one in later if one is not None]
    return by_size([*found, *follow])


def choose(dataset: str, strategy: str, store: Store) -> Proposal | None:
    """Return what the searches or a round propose, whichever validates best in runs of its own.

    A round's own accuracy flatters its winner, the best of many; seeds that have chosen nothing
    before decide, for nodes that differ in their steps where that costs little. Before they have
    run, the fresh runs decide, whose test accuracies are reported; where none of the proposals has
    been measured so either, the latest is taken.

    Args:
        strategy: l2b, l2u, or none for the backbone alone.

    Returns:
        None where nothing is recorded.
    """
    proposed = list(proposals(dataset, strategy, store).values())
    if not proposed:
        return None
    found = _decided(dataset, strategy, proposed, store)
    if found is not None:
        return found
    best = _best_measured(dataset, proposed, store)
    return replace(best, configurations=proposed[-1].configurations)


Tried = list[tuple[Candidate, Mapping[str, Any]]]


@dataclass(frozen=True)
class Decided:
    """All candidates of a decision with what each reached, and the index of the one taken."""

    tried: Tried
    taken: int


def decided(name: str, store: Store) -> Decided | None:
    """Return how it was decided about a recipe, or None before."""
    tried = _tried(name, store)
    if not tried:
        return None
    taken = _pick(name, tried)
    again = _reached(rescaled(name, store), store)
    if again and again[0][0].runs == tried[taken][0].runs:
        tried += again
        split = dataset_info(parts_of(name)[0]).splits[0]
        taken = len(tried) - 1 if is_close(tried[taken][1], again[0][1], split) else taken
    return Decided(tried, taken)


def _tried(name: str, store: Store) -> Tried:
    """Return what was proposed, and what was taught otherwise; nothing before it has run."""
    found = [*_reached(decision(name, store), store), *_reached(retaught(name, store), store)]
    most = max((candidate.runs for candidate, _ in found), default=0)
    return [one for one in found if one[0].runs == most]


def _reached(runs: Experiment | None, store: Store) -> Tried:
    record = None if runs is None else runs.record(store)
    if runs is None or record is None:
        return []
    tried = zip(runs.candidates, record["results"], strict=False)
    own = {"runs": record["runs"]}
    return [(replace(c, validation=r["val_mean"], **own), r) for c, r in tried]


def _pick(name: str, tried: Tried) -> int:
    return pick([result for _, result in tried], dataset_info(parts_of(name)[0]).splits[0])


def _decided(
    dataset: str, strategy: str, proposed: Sequence[Proposal], store: Store
) -> Proposal | None:
    """Return what the runs which decide take, with what it reached; none before."""
    found = decided(f"{dataset}-{strategy}", store)
    if found is None:
        return None
    known = [one.candidate.settings for one in proposed]
    taught = [one for one, _ in found.tried if one.settings not in known]
    best, _ = found.tried[found.taken]
    return Proposal(best, proposed[-1].configurations + len(taught))


def _best_measured(dataset: str, proposed: Sequence[Proposal], store: Store) -> Proposal:
    """Return the proposal whose fresh runs validate best, or else the latest."""
    measured = [m for one in proposed if (m := _measured(dataset, one, store)) is not None]
    if not measured:
        return proposed[-1]
    runs = max(one.candidate.runs for one in measured)
    alike = [one for one in measured if one.candidate.runs == runs]
    return max(alike, key=lambda one: one.candidate.validation)


def _measured(dataset: str, proposal: Proposal, store: Store) -> Proposal | None:
    """Return the proposal with the validation accuracy of its fresh runs."""
    settings = proposal.candidate.settings
    record = fresh.measured(f"{dataset}-{settings.strategy}", settings, store)
    if record is None:
        return None
    reached = {"validation": record["val_mean"], "runs": record["runs"]}
    return replace(proposal, candidate=replace(proposal.candidate, **reached))


def recipe_of(proposal: Proposal, known: Recipe) -> Recipe:
    """Return the recipe of a proposal; the paper's number and the note are those known."""
    candidate = proposal.candidate
    found = Found(
        method=candidate.method,
        configurations=proposal.configurations,
        runs=candidate.runs,
        validation=round(candidate.validation, 2),
    )
    return known.model_copy(update={"settings": candidate.settings, "found": found})
