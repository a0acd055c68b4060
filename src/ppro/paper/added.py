"""What the controllers add to a backbone that keeps the settings which suit it best alone.

A tuned PPro and a tuned backbone differ in many settings. Here they differ in the controllers
alone: the backbone has those of its own recipe, the controllers those of the strategy's.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from ppro.data import dataset_info
from ppro.nn.comparing.network import compares
from ppro.paper import fresh
from ppro.paper.cells import by_size
from ppro.paper.entrants import TOGETHER
from ppro.paper.experiment import Experiment, Plan
from ppro.paper.render import section
from ppro.paper.statistics import Judged, compare, judged, mean_and_spread, with_error
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings

TITLE = "What the controllers add"
PARTS: Mapping[str, Mapping[str, Any]] = {
    "both": {},
    "steps": {"use_weighting": False},
    "priorities": {"use_propagation": False},
}
"""Both controllers, the propagation controller alone (-nw), the weight controller alone (-np)."""
_TEXT = (
    "The backbone keeps the settings of its own recipe, so these runs differ from it in the "
    "controllers alone, which have the settings of the strategy's recipe: both of them, the "
    "propagation controller alone (-nw), or the weight controller alone (-np); where controllers "
    "compare steps, the latter keeps all nodes at one step, which they learn. Seeds and splits "
    "are those of the recipes above. Test accuracy of the backbone in percent, then the paired "
    "differences from it with their standard errors; in brackets the difference in validation "
    "accuracy. *Better* and *worse* are said after Holm's correction for all differences of this "
    "table."
)
Part = tuple[str, str, str]
"""A graph, a strategy, and which of its controllers are on."""
_HEAD = "graph|strategy|runs|backbone|both|steps alone|priorities alone"


def changes_of(part: str, controllers: Settings) -> Mapping[str, Any]:
    """Return what leaves one of the controllers on; those that compare cannot do without steps."""
    if part == "priorities" and compares(controllers):
        return {"kappa": TOGETHER}
    return PARTS[part]


def experiment(dataset: str, strategy: str, part: str, plan: Plan) -> Experiment:
    """Return the runs of a strategy's controllers, or one of them, on the backbone's settings."""
    backbone = shipped_recipe(f"{dataset}-none").settings
    controllers = shipped_recipe(f"{dataset}-{strategy}").settings
    changes = changes_of(part, controllers)
    settings = backbone.with_controllers_of(controllers).replace(**changes)
    return fresh.fresh_experiment(f"added/{dataset}-{strategy}/{part}", dataset, settings, plan)


def experiments(plan: Plan, datasets: Sequence[str] = EIGHT) -> list[Experiment]:
    """Return the backbones at their recipes, and the controllers on them."""
    alone = [
        fresh.of_recipe(f"{d}-none", shipped_recipe(f"{d}-none").settings, plan) for d in datasets
    ]
    added = (experiment(d, s, p, plan) for s in ("l2b", "l2u") for d in datasets for p in PARTS)
    return [*by_size(alone), *by_size(added)]


def markdown(store: Store) -> str:
    """Return the gain of the controllers, and of each of them alone."""
    pairs = [(dataset, strategy) for dataset in EIGHT for strategy in ("l2b", "l2u")]
    rows = [row for pair in pairs if (row := _row(*pair, store))]
    return section(TITLE, _TEXT, _HEAD, rows, "added")


def _row(dataset: str, strategy: str, store: Store) -> list[str]:
    base = fresh.reached(f"{dataset}-none", store)
    found = [_measured(dataset, strategy, part, store) for part in PARTS]
    if base is None or not any(found):
        return []
    cells = [_difference(dataset, strategy, part, base, store) for part in PARTS]
    title = dataset_info(dataset).title
    return [title, strategy, str(base["runs"]), mean_and_spread(base), *cells]


def _measured(dataset: str, strategy: str, part: str, store: Store) -> dict[str, Any] | None:
    wanted = experiment(dataset, strategy, part, Plan(store.root))
    return None if wanted.record(store) is None else store.one(wanted.place)


def gains(store: Store) -> dict[Part, Judged]:
    """Return what controllers add, paired over seeds and splits, wherever it is known."""
    return store.once("gains", lambda: _gains(store))


def _gains(store: Store) -> dict[Part, Judged]:
    found = {}
    for dataset in EIGHT:
        base = fresh.reached(f"{dataset}-none", store)
        for strategy, part in product(("l2b", "l2u"), PARTS):
            record = _measured(dataset, strategy, part, store)
            if record is not None and base is not None and record["runs"] == base["runs"]:
                found[dataset, strategy, part] = compare(record["test"], base["test"])
    return judged(found)


def _difference(
    dataset: str, strategy: str, part: str, base: Mapping[str, Any], store: Store
) -> str:
    found = gains(store).get((dataset, strategy, part))
    record = _measured(dataset, strategy, part, store)
    if found is None or record is None:
        return "–"
    validation, one = record["val_mean"] - base["val_mean"], found.comparison
    told = f"{with_error(one)} ({validation:+.2f})"
    return told if found.verdict == "tie" else f"{told}, {found.verdict}"
