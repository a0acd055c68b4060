import torch

from ppro.data import load_graph, make_splits
from ppro.paper.bench import Case, cases, judged_cases, measure
from ppro.paper.bench.cases import GENERATED, bench_graph
from ppro.paper.bench.memory import peak_of_step
from ppro.paper.bench.peer import Peer


def test_a_case_is_measured_against_the_peer() -> None:
    row = measure(Case("digits", "hidden", 3, "l2b", runs=2), torch.device("cpu"), 1, budget=0.1)
    assert row["rounds"] >= 3
    assert row["ours_ms"] > 0
    assert row["peer_ms"] > 0
    assert row["ratio"] == row["ours_ms"] / row["peer_ms"]
    assert (row["edges"], row["runs"], row["threads"]) == (12340, 2, 1)


def test_l2b_is_measured_at_its_costliest() -> None:
    """No node may break early, or the measurement would flatter us."""
    assert {s.controllers.epsilon for s in Case("cora", "class", 10, "l2b").settings()} == {1.0}


def test_epochs_with_judges_are_measured_over_all_kinds_of_them() -> None:
    case = Case("digits", "class", 2, "l2b", judges="folds")
    chosen = case.settings()[0].controllers
    assert (chosen.teaching, chosen.judges) == ("compare", "folds")
    assert case.cycle == chosen.judge_every
    assert Case("digits", "class", 2, "l2b").cycle == 1
    row = measure(case, torch.device("cpu"), 1, budget=0.1)
    assert (row["strategy"], row["judges"]) == ("l2b", "folds")
    assert row["ratio"] == row["ours_ms"] / row["peer_ms"]
    alone = measure(Case("digits", "class", 2, "l2b"), torch.device("cpu"), 1, budget=0.1)
    assert "judges" not in alone


def test_judges_are_measured_in_every_form() -> None:
    found = judged_cases()
    assert {(case.form, case.judges) for case in found} == {
        (form, judges) for form in ("class", "hidden") for judges in (None, "train", "folds")
    }
    assert set(found) <= set(cases(quick=True, gpu=False))


def test_the_peer_learns() -> None:
    graph = load_graph("digits")
    splits = make_splits(graph, "digits", "random-60-20-20", 1, 0)
    torch.manual_seed(0)
    for form in ("hidden", "class"):
        settings = Case("digits", form, 2, "none").settings()[0]
        peer = Peer(graph, splits, settings.replace(feature_norm="none"), torch.device("cpu"))
        for _ in range(60):
            peer.epoch()
        peer.net.eval()
        guess = peer.net(peer.x, peer.edge_index).argmax(-1)
        assert float((guess == peer.y)[splits.test[0]].float().mean()) > 0.8


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
