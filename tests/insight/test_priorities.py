"""What the priorities of a run did, in numbers and words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from scipy.stats import spearmanr

from ppro.data import load_graph
from ppro.graph.core import Graph
from ppro.insight.explain import ExplainedRun
from ppro.insight.measures import degrees
from ppro.insight.priorities import Priorities, diagnosis_of, priorities_of
from ppro.insight.report.summary import summary_data
from ppro.training.diagnosis import PrioritySpread
from tests.insight.report.conftest import train


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 80})


@pytest.fixture(scope="module")
def run(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> ExplainedRun:
    return train(graph, tmp_path_factory.mktemp("run"), consistency=0.5)


def with_priorities(run: ExplainedRun, values: torch.Tensor) -> ExplainedRun:
    return replace(run, explanation=replace(run.explanation, priorities=values))


def found_of(run: ExplainedRun, values: torch.Tensor) -> Priorities:
    found = priorities_of(with_priorities(run, values))
    assert found is not None
    return found


def test_more_for_nodes_of_high_degree(run: ExplainedRun, graph: Graph) -> None:
    values = torch.from_numpy(0.2 + degrees(graph).astype("float32") / 10)
    found = found_of(run, values)
    best = found.relations[0]
    assert (best.name, best.more) == ("degree", "nodes of high degree")
    assert best.rho == pytest.approx(1)
    assert found.relations[0].more in found.sentences()[-1]
    strengths = [abs(one.rho) for one in found.relations]
    assert strengths == sorted(strengths, reverse=True)


def test_correlations_are_those_of_scipy(run: ExplainedRun) -> None:
    found, told = priorities_of(run), run.explanation
    assert found is not None
    assert told.priorities is not None
    rho = spearmanr(told.priorities.numpy(), told.final.amax(-1).numpy()).statistic
    one = next(one for one in found.relations if one.name == "sureness")
    assert one.rho == pytest.approx(float(rho), abs=1e-6)
    word = "unsure" if rho < 0 else "sure"
    assert one.more == f"nodes whose class the model is {word} of"


def test_what_the_mean_does_to_the_loss(run: ExplainedRun, graph: Graph) -> None:
    spread = torch.linspace(0.5, 1.5, graph.num_nodes)
    trained = run.splits.train[run.index]
    doubled = found_of(run, 2 * spread / spread[trained].mean())
    assert doubled.on_training == pytest.approx(2)
    told = " ".join(doubled.sentences())
    assert "mean is 2.00: the loss counts 2 times as much beside consistency and" in told
    even = " ".join(found_of(run, spread / spread[trained].mean()).sentences())
    assert "On the training nodes their mean is 1, so the loss keeps its scale." in even


def test_equal_priorities_favour_nobody(run: ExplainedRun, graph: Graph) -> None:
    found = found_of(run, torch.full((graph.num_nodes,), 2.0))
    assert found.relations == ()
    assert found.sentences()[0] == "All nodes have the priority 2, so priorities favour no node."


def test_without_priorities_nothing_is_told(graph: Graph, tmp_path: Path) -> None:
    bare = train(graph, tmp_path, strategy="none")
    assert priorities_of(bare) is None
    data = summary_data(bare)
    assert data["priorities"] == []
    assert not any("step" in found or "priorit" in found for found in data["findings"])


def rewritten(run: ExplainedRun, change: Any) -> ExplainedRun:
    """The same run, opened anew with another ``result.json``."""
    path = run.saved.folder / "result.json"
    before = path.read_text(encoding="utf-8")
    facts = json.loads(before)
    change(facts)
    path.write_text(json.dumps(facts), encoding="utf-8")
    try:
        found = replace(run, saved=type(run.saved)(run.saved.folder, run.saved.config))
        assert found.saved.facts
        return found
    finally:
        path.write_text(before, encoding="utf-8")


def test_a_folder_that_says_nothing_of_its_runs_is_diagnosed_by_the_one_shown(
    run: ExplainedRun, graph: Graph
) -> None:
    old = rewritten(run, lambda facts: facts.pop("diagnosis"))
    same = with_priorities(old, torch.full((graph.num_nodes,), 2.0))
    assert "all priorities are equal: 2 for every node" in diagnosis_of(same).verdicts()
    table = summary_data(old)["runs"]
    assert "most common step" not in table["head"]
    assert {len(row) for row in table["rows"]} == {len(table["head"])}


def test_the_table_of_the_runs_tells_how_far_nodes_differ(run: ExplainedRun) -> None:
    table = summary_data(run)["runs"]
    columns = ["most common step", "nodes at it", "priorities, mean", "90 % within"]
    assert table["head"][-4:] == columns
    shares = run.saved.facts["diagnosis"]["shares"]
    for row, of_run in zip(table["rows"], shares, strict=True):
        assert row[-4] == str(max(range(len(of_run)), key=of_run.__getitem__))
        assert row[-3] == f"{100 * max(of_run):.1f} %"


@pytest.mark.parametrize(
    ("runs", "error", "value", "below"),
    [
        (2, 0.2, "+0.30 ± 0.20", "2 runs: a tie, within two standard errors; alone at depth 4"),
        (1, None, "+0.30", "1 run: too few to tell; alone at depth 4: 81.50"),
    ],
)
def test_a_comparison_has_a_tile(
    run: ExplainedRun, runs: int, error: float | None, value: str, below: str
) -> None:
    found = {"steps": 4, "test_mean": 81.5, "difference": 0.3, "standard_error": error}
    added = {**found, "runs": runs, "verdict": "tie"}
    compared = rewritten(run, lambda facts: facts.update(against_backbone=added))
    tiles = {tile["name"]: tile for tile in summary_data(compared)["tiles"]}
    assert tiles["Against the backbone"]["value"] == value
    assert tiles["Against the backbone"]["below"].startswith(below)
    assert "Against the backbone" not in {tile["name"] for tile in summary_data(run)["tiles"]}


def test_spreads_of_a_run_are_those_of_its_training(run: ExplainedRun) -> None:
    told = run.explanation.priorities
    assert told is not None
    recorded = diagnosis_of(run).priorities
    assert recorded is not None
    now = PrioritySpread.of(told, None)
    assert now.mean == pytest.approx(recorded[run.index].mean, rel=1e-3)
    assert now.deviation == pytest.approx(recorded[run.index].deviation, rel=1e-2)
