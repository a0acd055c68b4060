"""Strategies, measures and metrics of a user's own in explanations, reports and run folders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

from ppro import PPro, RunError, load, load_graph
from ppro.graph.core import Graph
from ppro.insight.explain import ExplainedRun
from ppro.insight.report import report_data
from ppro.insight.story import node_story
from ppro.nn.priority import Edges, Measure
from ppro.nn.strategies import Strategy
from ppro.parts import MEASURES, METRICS, STRATEGIES
from ppro.runs.opening import open_run
from ppro.training.metrics import Metric
from tests.insight.report.conftest import train

REGISTRIES = {"strategy": STRATEGIES, "priority measure": MEASURES, "metric": METRICS}


@pytest.fixture
def own() -> Iterator[dict[str, Any]]:
    """Define a part of each kind, and forget it afterwards."""

    class Patient(Strategy):
        name: ClassVar[str] = "patient"
        title: ClassVar[str] = "Patient nodes"
        verb: ClassVar[str] = "rest"
        told: ClassVar[str] = "It rested at step"

        def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
            self.take(self.chance(h, evidence) > 0.5, k, h)

        def chance(self, h: Tensor, evidence: Tensor) -> Tensor:
            return self.view.probability(h.detach(), evidence.detach())

    class Parity(Measure):
        name: ClassVar[str] = "parity"
        title: ClassVar[str] = "odd degree"

        def of_graph(self, edges: Edges) -> Tensor:
            return edges.degree() % 2

    class Sureness(Metric):
        name: ClassVar[str] = "sureness"
        title: ClassVar[str] = "sureness of the right class"
        percent: ClassVar[bool] = False

        def measure(self, probabilities: Any, labels: Any) -> float:
            return float(probabilities[np.arange(len(labels)), labels].mean())

    yield {"strategy": "patient", "metric": "sureness"}
    for registry, name in ((STRATEGIES, "patient"), (MEASURES, "parity"), (METRICS, "sureness")):
        registry._parts.pop(name, None)


@pytest.fixture
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 80})


@pytest.fixture
def explained(own: dict[str, Any], graph: Graph, tmp_path: Path) -> ExplainedRun:
    return train(graph, tmp_path, **own, measures=("parity", "heterophily"))


def test_the_report_uses_their_words(explained: ExplainedRun) -> None:
    data = report_data(replace(explained, index=explained.saved.trained.best_run))
    assert data["summary"]["method"] == "Patient nodes on APPNP"
    assert data["explorer"]["verb"] == "rest"
    assert data["explorer"]["told"] == "It rested at step"
    assert data["explorer"]["measureNames"][0] == "odd degree"
    assert data["explorer"]["driverNames"][0] == "odd degree"
    assert "best validation sureness of the right class" in data["summary"]["which"]
    value = next(t["value"] for t in data["summary"]["tiles"] if "Test sureness" in t["name"])
    assert "%" not in value
    titles = [chart["title"] for chart in data["charts"]["curves"]]
    assert "Validation sureness of the right class" in titles


def test_the_explanation_uses_their_words(explained: ExplainedRun) -> None:
    story = node_story(explained, 3)
    assert story["decision"] == "rest"
    assert [driver["name"] for driver in story["drivers"]][:2] == [
        "odd degree",
        "heterophily degree",
    ]


def test_a_run_names_the_part_that_it_needs(explained: ExplainedRun) -> None:
    folder = explained.saved.folder
    trained = open_run(folder).trained
    assert set(trained.own_parts) == {
        "strategy patient",
        "metric sureness",
        "priority measure parity",
    }
    for kind, registry in REGISTRIES.items():
        name = next(part for part in trained.own_parts if part.startswith(kind)).split()[-1]
        part = registry._parts.pop(name)
        for opened in (open_run, load):
            with pytest.raises(RunError, match=rf"no {kind} '{name}'.*ppro --load FILE") as told:
                opened(folder)
            assert "\n" not in str(told.value)
        registry.register(name, part)
    open_run(folder)


def test_the_estimator_scores_with_them(own: dict[str, Any], graph: Graph, tmp_path: Path) -> None:
    fitted = PPro(**own, epochs=5, hidden=8, max_steps=3, n_runs=2, device="cpu").fit(graph)
    probabilities = fitted.predict_proba(graph)
    expected = probabilities[np.arange(80), graph.labels.numpy()].mean()
    assert fitted.score(graph) == pytest.approx(float(expected), rel=1e-5)
    validation = fitted.splits_.val[fitted.best_run_]
    score = fitted.score(graph, mask=validation)
    assert fitted.validation_score_ == pytest.approx(score, rel=1e-5)
    scores = [row["val_score"] for row in fitted.run_.facts["per_run"]]
    assert fitted.best_run_ == int(np.argmax(scores))
    fitted.save(tmp_path / "model")
    loaded = load(tmp_path / "model", device="cpu")
    assert loaded.metric == "sureness"
    assert loaded.score(graph) == fitted.score(graph)


def test_steps_show_without_a_chance(graph: Graph, tmp_path: Path) -> None:
    class Parting(Strategy):
        name: ClassVar[str] = "parting"
        title: ClassVar[str] = "By number"

        def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
            rows = torch.arange(h.shape[1], device=h.device) % 4 >= k
            self.take(rows.expand(h.shape[:2]), k, h)

    try:
        run = train(graph, tmp_path, strategy="parting")
        data = report_data(run)
        assert data["charts"]["steps"] is not None
        assert data["explorer"]["decides"] is True
        assert data["explorer"]["decisions"] is data["explorer"]["verb"] is None
        assert node_story(run, 2)["decision"] is None
    finally:
        STRATEGIES._parts.pop("parting", None)
