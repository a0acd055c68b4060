"""The default beside tuned plain networks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppro.data import DATASETS
from ppro.paper import untuned, untuned_tables
from ppro.paper.entrants import Arena
from ppro.paper.experiment import Plan
from ppro.paper.pool import missing, run_missing
from ppro.paper.store import Store
from ppro.paper.untuned import (
    CONFIGURATIONS,
    DEFAULTS,
    NETWORKS,
    SPLITS,
    WAYS,
    arenas,
    network,
    tuned,
)
from ppro.search.auto import EDITION
from tests.paper.support import keep, reached


def test_all_graphs_meet_all_networks() -> None:
    assert len(arenas()) == 16
    assert {arena.dataset for arena in arenas()} <= set(DATASETS)
    plan = Plan(Path())
    works = untuned.experiments(plan)
    assert len({work.place for work in works}) == len(works)
    on_cpu = [way for way in WAYS if way.device == "cpu"]
    assert len(works) == 16 * (len(on_cpu) * SPLITS + len(NETWORKS) + 1)
    with_gpu = untuned.experiments(Plan(Path(), device="cuda"))
    assert {work.method for work in with_gpu} - {work.method for work in works} == {
        "default-60-gpu"
    }


@pytest.mark.parametrize("dataset", ["cora", "texas", "planted"])
def test_everybody_is_offered_as_much(dataset: str) -> None:
    for entrant in (*(network(dataset, name) for name in NETWORKS), tuned(dataset)):
        assert len({repr(s.flat()) for s in entrant.offered}) == CONFIGURATIONS, entrant.key
        assert "unit" in {s.inputs.feature_norm for s in entrant.offered}
    assert {s.strategy for s in tuned(dataset).offered} == {"l2b", "l2u"}
    assert {s.flat()["norm"] for s in network(dataset, "sage").offered} == {"none"}


def test_what_is_not_measured_is_not_told(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert "Not measured yet: run `ppro reproduce untuned`" in untuned_tables.markdown(store)


def put(store: Store, key: str, test: list[float], validation: float = 80.0) -> None:
    result = {**reached(test, validation), "settings": {}}
    keep(store, f"untuned/cora/{key}", result)


def test_the_best_by_validation_is_the_one_to_beat(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name in NETWORKS:
        best = name == "gat"
        put(store, name, [84.0] * 10 if best else [85.0] * 10, 82.0 if best else 80.0)
    for row in range(SPLITS):
        assert "| Cora | 85.0 ± 0.0 | 84.0 ± 0.0 (GAT) | – | – | – | – | – | – | – | – |" in (
            untuned_tables.markdown(store)
        )
        store.write(
            f"untuned/cora/default-60.{row}", {"test_mean": 82.5 + row / 10, "edition": EDITION}
        )
    text = untuned_tables.markdown(store)
    begin, end = "| Cora | 85.0 ± 0.0 | 84.0 ± 0.0 (GAT) | – |", "| -1.30 ± 0.07 | – | – |"
    assert f"{begin} 82.7 ± 0.2 | – | – | – {end}" in text
    assert "with 180 s gains" not in text
    put(store, "ppro", [86.0] * 10)
    for key, level in (("plain", 83.0), ("default-180", 85.0)):
        for row in range(SPLITS):
            store.write(
                f"untuned/cora/{key}.{row}", {"test_mean": level + row / 10, "edition": EDITION}
            )
    text = untuned_tables.markdown(store)
    assert "| Cora | 85.0 ± 0.0 | 84.0 ± 0.0 (GAT) | 83.2 ± 0.2 | 82.7 ± 0.2 | 85.2 ± 0.2 |" in text
    assert "| -1.30 ± 0.07 | +1.20 ± 0.07 | – |" in text
    told = (
        "Against the best tuned plain network the default with 60 s gains -1.30 points on average"
    )
    assert f"{told}; it is worse by more than 1 on 1 (Cora) of the 1 graphs where all" in text


def test_what_is_measured_is_told_where_something_is_missing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "mlp", [80.0] * 10, 79.0)
    put(store, "gcn", [84.0] * 10, 82.0)
    for row in range(SPLITS):
        store.write(
            f"untuned/cora/default-60.{row}", {"test_mean": 85.0 + row / 10, "edition": EDITION}
        )
    text = untuned_tables.markdown(store)
    assert "| Cora | 80.0 ± 0.0 | 84.0 ± 0.0 (GCN, best of 2) | – | 85.2 ± 0.2 |" in text
    assert "the best tuned plain network the default" not in text


def test_a_tiny_version_runs_from_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(untuned, "SPLITS", 2)
    monkeypatch.setattr(untuned, "QUICK_BUDGET", 1)
    options = {"nodes": 100.0, "features": 10.0}
    arena = Arena("untuned/csbm", "cSBM", "csbm", "random-60-20-20", options, more=1)
    plan = Plan(tmp_path, runs=2, configurations=0, changes={"epochs": 2}, threads=1)
    todo = untuned.experiments(plan, [arena])
    run_missing(lambda: todo, plan, 1, lambda line: None)
    assert missing(todo, plan.store) == []
    record = plan.store.read(f"untuned/csbm/{DEFAULTS[0].key}.0")
    assert record is not None
    assert record["search"]["chosen"]
    assert "| cSBM |" in untuned_tables.markdown(plan.store, [arena])


def test_what_an_earlier_search_reached_is_marked_and_measured_again(tmp_path: Path) -> None:
    store, arena = Store(tmp_path), arenas()[0]
    for row in range(SPLITS):
        found = {"test_mean": 82.0, "edition": EDITION - (row == 1)}
        store.write(f"{arena.place}/default-60.{row}", found)
        store.write(f"{arena.place}/plain.{row}", {"test_mean": 80.0})
    text = untuned_tables.markdown(store)
    assert "| 80.0 ± 0.0 | 82.0 ± 0.0 ‡ |" in text
    assert untuned_tables.OF_BEFORE in text
    left = [work.place for work in missing(untuned.experiments(Plan(tmp_path), [arena]), store)]
    assert f"{arena.place}/default-60.1" in left
    assert f"{arena.place}/default-60.0" not in left
    assert f"{arena.place}/plain.0" not in left
