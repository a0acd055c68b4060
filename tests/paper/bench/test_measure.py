import time

import pytest
import torch

from ppro.paper.bench import Case, cases, judged_cases, measure
from ppro.paper.bench.cases import GENERATED, MODELS, bench_graph
from ppro.paper.bench.measure import clock_for, in_turn
from ppro.paper.bench.memory import peak_of_step

CPU = torch.device("cpu")


def test_a_case_is_measured_against_the_peer() -> None:
    row = measure(Case("digits", "hidden", 3, "l2b", runs=2), CPU, 1, budget=0.1)
    assert row["rounds"] >= 3
    assert row["ours_ms"] > 0
    assert row["peer_ms"] > 0
    assert row["ratio"] == row["ours_ms"] / row["peer_ms"]
    assert (row["edges"], row["runs"], row["threads"]) == (12340, 2, 1)
    assert row["peers_ms"][row["peer"]] == row["peer_ms"] == min(row["peers_ms"].values())
    assert set(row["peers_ms"]) == {"documented", "cached", "CSR"}
    assert row["fastest_ms"] <= row["ours_ms"]
    floor_ms = 1e3 * row["bytes"] / row["bandwidth"]
    assert row["over_floor"] == pytest.approx(row["fastest_ms"] / floor_ms)


def test_a_network_of_our_layers_is_measured_beside_the_same_of_the_peer() -> None:
    for model in MODELS:
        row = measure(Case("digits", None, 2, "none", model=model), CPU, 1, budget=0.1)
        assert (row["model"], "form" in row) == (model, False)
        assert row["ratio"] > 0


def test_one_thread_is_timed_by_the_processor() -> None:
    assert clock_for(CPU, 1) is time.process_time
    assert clock_for(CPU, 2) is clock_for(torch.device("cuda"), 1) is time.perf_counter


def test_forms_that_are_far_behind_are_timed_in_the_first_round_only() -> None:
    slow = {"quick": lambda: time.sleep(0.001), "slow": lambda: time.sleep(0.02)}
    times = in_turn(lambda: None, slow, CPU, budget=0.1)
    assert len(times["slow"]) == 1
    assert len(times["quick"]) == len(times["ours"]) > 10


def test_l2b_is_measured_at_its_costliest() -> None:
    """No node may break early, or the measurement would flatter us."""
    assert {s.controllers.epsilon for s in Case("cora", "class", 10, "l2b").settings()} == {1.0}


def test_epochs_with_judges_are_measured_over_all_kinds_of_them() -> None:
    case = Case("digits", "class", 2, "l2b", judges="folds")
    chosen = case.settings()[0].controllers
    assert (chosen.teaching, chosen.judges) == ("compare", "folds")
    assert case.cycle == chosen.judge_every
    assert Case("digits", "class", 2, "l2b").cycle == 1
    row = measure(case, CPU, 1, budget=0.1)
    assert (row["strategy"], row["judges"]) == ("l2b", "folds")
    assert row["ratio"] == row["ours_ms"] / row["peer_ms"]
    alone = measure(Case("digits", "class", 2, "l2b"), CPU, 1, budget=0.1)
    assert "judges" not in alone


def test_judges_are_measured_in_every_form() -> None:
    found = judged_cases()
    assert {(case.form, case.judges) for case in found} == {
        (form, judges) for form in ("class", "hidden") for judges in (None, "train", "folds")
    }
    assert set(found) <= set(cases(quick=True, gpu=False))


def test_quick_cases_are_some_of_all() -> None:
    assert set(cases(quick=True, gpu=True)) < set(cases(quick=False, gpu=True))
    assert {case.graph for case in cases(quick=False, gpu=False)} >= set(GENERATED)
    assert max(case.runs for case in cases(quick=True, gpu=False)) == 10


def test_generated_graphs_have_the_edges_they_promise() -> None:
    graph, _ = bench_graph("1m-edges")
    assert abs(graph.num_edges - 1_000_000) < 10_000


def test_memory_of_an_l2b_step_does_not_grow_with_the_depth() -> None:
    shallow, deep = (
        peak_of_step(Case("1m-edges", "class", depth, "l2b"), "cpu") for depth in (4, 32)
    )
    assert shallow > 10
    assert deep < 1.1 * shallow
