"""Methods that meet on one graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ppro.data import Splits
from ppro.paper import entrants
from ppro.paper import experiment as experiments
from ppro.paper.entrants import Arena, Entrant, Entry
from ppro.paper.experiment import Plan
from ppro.paper.pool import missing, run_missing
from ppro.paper.store import Store
from ppro.search.batches import train_all
from ppro.settings.settings import Settings
from tests.paper.support import keep, reached

TINY = {"hidden": 4, "controller_units": 4, "max_steps": 2, "epochs": 3}
ARENA = Arena("here", "Here", "csbm", "random-60-20-20", {"nodes": 60, "classes": 3}, 5, choosing=2)
TWO = Entrant("two", "Two", tuple(Settings(lr=lr, **TINY) for lr in (0.01, 0.05)))


def choice(store: Store, entrant: Entrant, means: list[float]) -> None:
    results = [{"method": "", "settings": {}, "val_mean": mean} for mean in means]
    store.write(f"{ARENA.place}/{entrant.key}.choice", {"runs": 2, "results": results})


def test_combinations_are_offered_in_their_order() -> None:
    shapes = entrants.grid(max_steps=(1, 2))
    found = entrants.offered({"strategy": "none"}, shapes, entrants.grid(dropout=(0.2, 0.5)))
    values = [(s.network.max_steps, s.training.dropout) for s in found]
    assert values == [(1, 0.2), (1, 0.5), (2, 0.2), (2, 0.5)]
    assert all(s.training.epochs == entrants.EPOCHS["epochs"] for s in found)


def test_validation_chooses_without_test_nodes_and_fresh_seeds_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int, set[int], str]] = []

    def watched(graph: Any, splits: Splits, jobs: Any, *rest: Any, **named: Any) -> Any:
        seeds = {job.settings.seed for job in jobs}
        seen.append((len(jobs), int(splits.test.sum()), seeds, graph.name))
        assert graph.num_nodes == 60
        return train_all(graph, splits, jobs, *rest, **named)

    monkeypatch.setattr(experiments, "train_all", watched)
    plan, told = Plan(tmp_path, runs=1, threads=1), list[str]()
    works = [Entry.of(ARENA, TWO, plan)]
    assert missing(works, plan.store) == works
    run_missing(lambda: works, plan, 1, told.append)
    (choosing, measuring) = seen
    assert choosing[:3] == (4, 0, {1000, 1001})
    assert measuring[0] == 2
    assert measuring[1] > 0
    assert measuring[2] == {2000, 2001}
    search, record = plan.store.read("here/two.choice"), plan.store.one("here/two")
    assert search is not None
    assert record is not None
    best = max(search["results"], key=lambda one: one["val_mean"])
    assert record["settings"]["lr"] == best["settings"]["lr"]
    assert (record["options"], record["graph_seed"]) == (ARENA.options, 5)
    assert not any("test" in one for one in search["results"])
    assert missing(works, plan.store) == []
    more = replace(plan, runs=2)
    run_missing(lambda: [Entry.of(ARENA, TWO, more)], more, 1, told.append)
    assert len(seen) == 3, "what was chosen stays chosen"


def test_other_settings_are_chosen_anew(tmp_path: Path) -> None:
    plan = Plan(tmp_path, runs=1, configurations=0, changes={"epochs": 2}, threads=1)
    run_missing(lambda: [Entry.of(ARENA, TWO, plan)], plan, 1, lambda line: None)
    assert missing([Entry.of(ARENA, TWO, plan)], plan.store) == []
    assert plan.store.read("here/two.choice") is None
    searched = Plan(tmp_path, runs=1)
    assert len(missing([Entry.of(ARENA, TWO, searched)], searched.store)) == 1


def test_the_best_by_validation_is_compared_run_by_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = (Entrant(key, key, TWO.offered) for key in ("first", "second"))
    assert entrants.reached(ARENA, first, store) is None
    keep(store, "here/first", reached([80.0, 82.0], val_mean=85.0))
    keep(store, "here/second", reached([81.0, 82.5], val_mean=84.0))
    both = [entrants.reached(ARENA, one, store) for one in (first, second)]
    best = entrants.best(both)
    assert best is not None
    assert best.entrant is first
    # The runs that chose say more: they are of other seeds than those that measure.
    choice(store, first, [83.0, 84.0])
    choice(store, second, [86.0, 70.0])
    ours, theirs = (entrants.reached(ARENA, one, store) for one in (second, first))
    assert entrants.best([theirs, None, ours]) is ours
    assert ours is not None
    assert ours.validation == 86.0
    compared = ours.against(theirs)
    assert compared is not None
    assert (compared.difference, compared.standard_error) == (0.75, 0.25)
    keep(store, "here/first", reached([80.0]))
    assert ours.against(entrants.reached(ARENA, first, store)) is None
