"""Which of the recorded settings become the recipe of a graph and a strategy."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ppro.paper import fresh
from ppro.paper.contest import contest
from ppro.paper.experiment import Candidate
from ppro.paper.rounds import FINALS, PLAYOFFS
from ppro.paper.store import Store
from ppro.settings.recipe import Found, Recipe

SEARCHES = "searches"
ROUNDS = (SEARCHES, FINALS.key, PLAYOFFS.key)


@dataclass(frozen=True)
class Proposal:
    """The candidate that won, and how many configurations were searched for all that competed."""

    candidate: Candidate
    configurations: int


def proposals(dataset: str, strategy: str, store: Store) -> dict[str, Proposal]:
    """Return the winner of the searches and of each round, in their order.

    A round of a graph counts when the backbone alone and both strategies have had it.

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
    return found


def choose(dataset: str, strategy: str, store: Store) -> Proposal | None:
    """Return what the searches or a round propose, whichever validates best in the fresh runs.

    A round's own accuracy flatters its winner, the best of many; the fresh runs have chosen
    nothing before. Where none of the proposals has been measured so, the latest is taken.

    Args:
        strategy: l2b, l2u, or none for the backbone alone.

    Returns:
        None where nothing is recorded.
    """
    proposed = list(proposals(dataset, strategy, store).values())
    if not proposed:
        return None
    measured = [m for one in proposed if (m := _measured(dataset, one, store)) is not None]
    if not measured:
        return proposed[-1]
    runs = max(one.candidate.runs for one in measured)
    best = max(
        (one for one in measured if one.candidate.runs == runs),
        key=lambda one: one.candidate.validation,
    )
    return replace(best, configurations=proposed[-1].configurations)


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
