"""Equal offers for the backbone alone and both strategies."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppro.paper import entrants, equal_offers
from ppro.paper.entrants import Arena, Entrant, Entry
from ppro.paper.experiment import Plan
from ppro.paper.pool import missing, run_missing
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.settings.settings import Settings
from tests.paper.support import keep, reached


@pytest.mark.parametrize("dataset", EIGHT)
def test_all_methods_are_offered_the_same(dataset: str) -> None:
    made = {s: equal_offers.entrant(dataset, s).offered for s in equal_offers.METHODS}
    sizes = {len(one) for one in made.values()}
    assert sizes == {equal_offers.CONFIGURATIONS}
    assert len({equal_offers.size_of_offer(dataset, s) for s in equal_offers.METHODS}) == 1
    values = {
        str([space.values for space in equal_offers._spaces(dataset, s)])
        for s in equal_offers.METHODS
    }
    assert len(values) == 1
    assert {s.controllers.teaching for s in made["l2b"]} == {"paper", "compare"}
    assert {s.controllers.start for s in made["l2u"]} >= {"explore", "held"}
    assert min(s.network.max_steps for s in made["none"]) == 1
    apart, same = (
        [(s.inputs, s.network, s.training, s.controllers.start) for s in made[name]]
        for name in ("l2b", "l2u")
    )
    assert apart == same, "both strategies draw the same backbones"


def test_finalists_train_once_more_before_one_is_chosen(tmp_path: Path) -> None:
    tiny = {"hidden": 4, "controller_units": 4, "max_steps": 2, "epochs": 3}
    arena = Arena(
        *("here", "Here", "csbm", "random-60-20-20", {"nodes": 60, "classes": 3}),
        choosing=2,
        finalists=2,
        deciding=3,
    )
    three = Entrant("three", "Three", tuple(Settings(lr=lr, **tiny) for lr in (0.01, 0.05, 0.2)))
    plan = Plan(tmp_path, runs=1, threads=1)
    assert entrants.deciding(arena, three, plan.store) is None
    works = [Entry.of(arena, three, plan)]
    run_missing(lambda: works, plan, 1, lambda line: None)
    assert missing(works, plan.store) == []
    first, final = plan.store.read("here/three.choice"), plan.store.read("here/three.final")
    assert first is not None
    assert final is not None
    means = {one["settings"]["lr"]: one["val_mean"] for one in first["results"]}
    best_two = sorted(means, key=lambda lr: -means[lr])[:2]
    assert [one["settings"]["lr"] for one in final["results"]] == best_two
    assert final["runs"] == 3
    decided = max(final["results"], key=lambda one: one["val_mean"])
    found = entrants.reached(arena, three, plan.store)
    assert found is not None
    assert found.settings["lr"] == decided["settings"]["lr"]
    assert found.validation == decided["val_mean"]


def test_the_table_shows_what_was_chosen(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert "Not measured yet: run `ppro reproduce offers`" in equal_offers.markdown(store)
    diagnosis = {"shares": [[0.8, 0.2], [0.3, 0.7]], "priorities": None}
    for strategy, test in (("none", [83.0, 84.0]), ("l2b", [84.0, 85.5])):
        settings = equal_offers.entrant("cora", strategy).offered[0].flat()
        kept = {} if strategy == "none" else {"diagnosis": diagnosis}
        keep(
            store, f"offers/cora/{strategy}", {**reached(test, 84.0), "settings": settings, **kept}
        )
    text = equal_offers.markdown(store)
    assert "+1.25 ± 0.25" in text
    assert "| 25% |" in text
    assert "start explore" in text
