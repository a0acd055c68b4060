"""Measures, packing, curves and the explorer's data."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ppro.errors import RunError
from ppro.graph.core import Graph
from ppro.insight.explain import explain_run
from ppro.insight.measures import degrees, local_homophily, rank_correlation
from ppro.insight.report import curves, explorer, figures
from ppro.insight.report.curves import training_curves
from ppro.insight.report.explorer import explorer_data, sample
from ppro.insight.report.measured import measured_data
from ppro.insight.report.packing import TYPES, pack, pack_shares, pack_whole
from ppro.insight.report.relations import degree_bins
from ppro.insight.report.summary import summary_data
from ppro.runs.metrics_file import read_metrics
from tests.insight.report.conftest import Explain

FIRST = Path(__file__).parents[2] / "fixtures" / "format-1"


def unpacked(packed: dict[str, str]) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(packed["data"]), TYPES[packed["type"]])


def path_graph() -> Graph:
    edges = torch.tensor([[0, 1, 2], [1, 2, 3]])
    return Graph.build("path", edges, torch.ones(5, 1), torch.tensor([0, 0, 1, -1, 1]))


def test_degree_and_homophily_of_a_path() -> None:
    graph = path_graph()
    assert degrees(graph).tolist() == [1, 2, 2, 1, 0]
    found = local_homophily(graph)
    assert found[:3].tolist() == [1.0, 0.5, 0.0]
    assert np.isnan(found[3:]).all()


def test_rank_correlation_needs_two_things_that_vary() -> None:
    a = np.array([1.0, 2, 3, np.nan, 5])
    assert rank_correlation(a, a**3) == pytest.approx(1)
    assert rank_correlation(a, -a) == pytest.approx(-1)
    assert rank_correlation(a, np.ones(5)) is None


def test_packed_arrays_come_back() -> None:
    assert unpacked(pack(np.array([-1, 7]), "i16")).tolist() == [-1, 7]
    for top, kind in ((255, "u8"), (256, "u16"), (70_000, "u32")):
        packed = pack_whole(np.array([0, top]))
        assert packed["type"] == kind
        assert unpacked(packed).tolist() == [0, top]
    shares = np.array([0.0, 0.25, 1.0])
    assert unpacked(pack_shares(shares)) / 65535 == pytest.approx(shares, abs=1e-5)
    assert pack_shares(np.zeros(2_000_001))["type"] == "u8"


def test_degree_bins_hold_every_degree() -> None:
    bounds = degree_bins(np.array([1.0, 40.0]))
    assert bounds.tolist() == [1, 2, 3, 5, 9, 17, 33, 65]
    assert degree_bins(np.array([0.0, 1.0]))[0] == 0


def test_texts_of_charts_hold_no_markup() -> None:
    assert figures.plain("<b>&") == "&lt;b&gt;&amp;"
    assert len(figures.plain("x" * 1000)) == 24


def test_a_large_graph_is_cut_to_a_connected_sample(small_graph: Graph) -> None:
    kept = sample(small_graph, 30)
    assert len(kept) == len(set(kept.tolist())) == 30
    assert sample(small_graph, 80).tolist() == list(range(80))
    inside = np.isin(small_graph.edge_index.numpy(), kept).all(0)
    assert inside.sum() >= 2 * 25


def test_the_explorer_of_a_sample_keeps_the_numbers_of_the_graph(
    explained: Explain, small_graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = explained(small_graph)
    shares = int(np.prod(run.explanation.probabilities.shape[1:]))
    monkeypatch.setattr(explorer, "MAX_SHARES", 20 * shares)
    monkeypatch.setattr(explorer, "MAX_DRAWN", 10)
    data = explorer_data(run)
    assert data["nodes"] == 20
    assert data["total"] == 80
    assert data["positions"] is None
    kept = [int(i) for i in data["ids"]]
    assert unpacked(data["labels"]).tolist() == small_graph.labels[kept].tolist()
    told = unpacked(data["probabilities"]).reshape(20, -1, small_graph.num_classes) / 65535
    assert told == pytest.approx(run.explanation.probabilities[kept].numpy(), abs=1e-4)
    source, target = unpacked(data["edges"]).reshape(2, -1)
    pairs = {(kept[a], kept[b]) for a, b in zip(source, target, strict=True)}
    assert pairs <= set(map(tuple, small_graph.edge_index.T.tolist()))


def test_metrics_come_back_by_epoch_and_run(explained: Explain) -> None:
    run = replace(explained(path_free(), runs=3), index=1)
    assert run.saved.metrics()["val_accuracy"].shape == (8, 3)
    charts = training_curves(run)
    assert [chart["title"] for chart in charts] == ["Validation accuracy", "Loss", "Mean step"]
    named = [trace["name"] for trace in charts[0]["figure"]["data"]]
    assert named[-1] == "run 1"
    json.dumps(charts, allow_nan=False)


def test_a_metric_that_is_not_accuracy_is_shown_by_its_title(explained: Explain) -> None:
    run = explained(path_free(), metric="macro-f1")
    titles = [chart["title"] for chart in training_curves(run)]
    assert titles[:2] == ["Validation accuracy", "Validation macro F1"]
    summary = summary_data(run)
    names = [tile["name"] for tile in summary["tiles"]]
    assert names[1:4] == ["Validation accuracy", "Test macro F1", "Validation macro F1"]
    assert summary["runs"]["head"][4:6] == ["validation macro F1", "test macro F1"]
    facts = run.saved.facts
    assert facts["metric"] == "macro-f1"
    assert summary["tiles"][2]["value"] == (
        f"{100 * facts['test_score_mean']:.2f} ± {100 * facts['test_score_std']:.2f} %"
    )
    scores = [row["val_score"] for row in facts["per_run"]]
    assert run.saved.trained.best_run == int(np.argmax(scores))


def test_curves_of_trainings_that_do_not_validate_in_every_epoch(
    explained: Explain, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = explained(path_free(), teaching="compare", warm_up=4, epochs=10, patience=30)
    for most, shown in ((400, [5, 6, 7, 8, 9, 10]), (3, [5, 7, 9])):
        monkeypatch.setattr(curves, "MAX_POINTS", most)
        for trace in training_curves(run)[0]["figure"]["data"]:
            assert trace["x"] == shown


def path_free() -> Graph:
    from ppro.data import load_graph

    return load_graph("csbm", options={"nodes": 40})


@pytest.mark.parametrize("text", [None, "{", '{"epoch": 1}', "[1]", '{"epoch": 0, "run": "a"}'])
def test_damaged_metrics_are_told(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "metrics.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match="train again"):
        read_metrics(tmp_path)


def test_metrics_and_classes_are_those_of_all_runs(explained: Explain) -> None:
    run = explained(path_free(), runs=3)
    facts, data = run.saved.facts, measured_data(run)
    assert data["told"] == "Test nodes of all 3 runs together"
    assert data["metrics"]["head"] == ["metric", "validation", "test"]
    told = {row[0]: row[2] for row in data["metrics"]["rows"]}
    loss = facts["metrics"]["test"]["log-loss"]
    assert told["log loss (less is better)"] == f"{loss['mean']:.4f} ± {loss['std']:.4f}"
    nodes = sum(int(row[-1]) for row in data["classes"]["rows"])
    assert nodes == int(run.splits.test.sum())
    cells = figures.confusion(run)["data"][0]["text"]
    assert cells == facts["confusion"]
    assert sum(map(sum, cells)) == nodes


def test_a_run_of_an_older_version_has_its_own_confusion_and_no_tables() -> None:
    run = explain_run(FIRST / "run")
    assert measured_data(run) == {"metrics": None, "classes": None, "told": "Test nodes"}
    assert sum(map(sum, figures.confusion(run)["data"][0]["text"])) == int(
        run.splits.test[run.index].sum()
    )


def test_a_result_that_guessing_reaches_is_a_finding(explained: Explain) -> None:
    run = explained(path_free(), epochs=1, hidden=1)
    found = run.saved.facts["majority"]
    told = [line for line in summary_data(run)["findings"] if "majority class" in line]
    assert bool(told) is not found["beaten"]
