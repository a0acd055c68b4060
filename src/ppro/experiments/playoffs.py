"""The play-off: the best of the last round, and the backbones that suited the other strategies.

The backbone alone, L2B and L2U have searched the backbone's settings apart from each other: what
one of them found may suit the others as well. And the best of fourteen owes something to luck, so
the best few of the last round train once more, on seeds and splits that it did not have.
"""

from __future__ import annotations

from ppro.data import dataset_info
from ppro.data.names import PUBLIC
from ppro.data.splits import Splits
from ppro.experiments.cells import Cell
from ppro.experiments.contest import Entry
from ppro.experiments.finals import FINALS
from ppro.experiments.rounds import STRATEGIES, Round, different, parts_of
from ppro.experiments.store import Store
from ppro.experiments.tasks import Plan, splits_of
from ppro.graph import Graph

FIRST_SEED = 4000
OWN, EXCHANGED = 4, len(STRATEGIES) - 1
"""The best of the last round, and the first of them with the others' backbones."""
RUNS_OF_ONE_SPLIT, RUNS_OF_RANDOM_SPLITS = 10, 20
CONTROLLERS = (
    *("epsilon", "lambda1", "lambda2", "lr_controller", "judge_share", "propagation_bias"),
    *("controller_units", "controller_inputs", "use_progress", "weight_form", "consistency_on"),
    *("use_priority", "use_step", "use_weighting", "use_propagation"),
)
"""Settings of the controllers; all others are the backbone's and its training's."""


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
    kept = {key: getattr(own.settings, key) for key in CONTROLLERS}
    settings = other.settings.replace(strategy=own.settings.strategy, **kept)
    return Entry(f"{own.method}, backbone of {other.method}", settings, own.validation, 0)


def _splits(dataset: str, graph: Graph, plan: Plan) -> Splits:
    split = dataset_info(dataset).splits[0]
    runs = RUNS_OF_ONE_SPLIT if split == PUBLIC else RUNS_OF_RANDOM_SPLITS
    return splits_of(Cell(dataset, split, ""), graph, plan, runs, FIRST_SEED)


PLAYOFFS = Round("playoffs", "The play-off", FIRST_SEED, candidates, _splits)


def markdown(store: Store) -> str:
    """What the best of the last round and the winner reached."""
    about = (
        f"The best {OWN} of the last round, and the first of them with the backbone's settings of "
        f"the {EXCHANGED} other strategies' winners, on seeds from {FIRST_SEED} on, and on splits "
        "of their own where splits are random."
    )
    return PLAYOFFS.markdown(store, about, "first of the last round")
