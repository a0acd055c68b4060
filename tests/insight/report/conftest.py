"""Runs to report on: small ones trained on the spot, and hostile ids and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from ppro.data import Splits, load_graph
from ppro.files import free_name
from ppro.graph.core import Graph
from ppro.insight.explain import ExplainedRun, explain_nodes
from ppro.insight.report import render, report_data
from ppro.runs.config import RunConfig, run_settings
from ppro.runs.opening import open_run
from ppro.runs.writing import TrainedRun, write_run
from ppro.settings.settings import Settings
from ppro.training.assembly import prepare_inputs
from ppro.training.fit import fit
from tests.insight.report.browser import Page, chromium

CPU = torch.device("cpu")
SCRIPT = "<script>window.hacked = 1</script>"
HOSTILE = (
    SCRIPT,
    "<img src=x onerror='window.hacked = 2'>",
    "</script><script>window.hacked = 3</script>",
    "\"'`><svg onload=window.hacked=4>",
    "%{customdata} <a href='javascript:window.hacked=5'>x</a>&lt;",
    "\u2028\u2029\x00 \N{RIGHT-TO-LEFT OVERRIDE}",
    "long " + "x" * 10_000,
)

Explain = Callable[..., ExplainedRun]


def train(graph: Graph, folder: Path, runs: int = 2, **changes: Any) -> ExplainedRun:
    """Train for a few epochs, write the run folder, and explain the first run."""
    settings = Settings(**{"epochs": 8, "hidden": 16, "max_steps": 4, **changes})
    config = RunConfig(dataset=graph.name, split="made up", runs=runs, settings=settings)
    part = torch.arange(graph.num_nodes).expand(runs, -1) % 5
    known = graph.labels >= 0
    splits = Splits("made up", (part < 2) & known, (part == 2) & known, (part > 2) & known)
    result = fit(graph, splits, run_settings(config))
    place = free_name(folder, "run")
    write_run(place, TrainedRun.of(config, graph, splits, result, device="cpu"))
    saved = open_run(place)
    inputs = prepare_inputs(graph, settings, CPU)
    told = explain_nodes(saved.model(CPU, run=0), inputs, graph)
    return ExplainedRun(saved, graph, splits, 0, told)


@pytest.fixture
def small_graph() -> Graph:
    return load_graph("csbm", options={"nodes": 80})


@pytest.fixture
def hostile_graph(small_graph: Graph) -> Graph:
    """The small graph with ids and class names that try to break out; some nodes unlabelled."""
    ids = [f"{HOSTILE[i % len(HOSTILE)]}{i}" for i in range(small_graph.num_nodes)]
    labels = small_graph.labels.clone()
    labels[::9] = -1
    names = HOSTILE[: small_graph.num_classes]
    return replace(
        small_graph, name=HOSTILE[0], labels=labels, class_names=names, node_ids=tuple(ids)
    )


@pytest.fixture
def explained(tmp_path: Path) -> Explain:
    """Trains on a graph with some settings, and explains the first run."""
    return lambda graph, **changes: train(graph, tmp_path, **changes)


@pytest.fixture
def written(tmp_path: Path) -> Callable[[ExplainedRun], Path]:
    """Writes a report."""

    def write(run: ExplainedRun) -> Path:
        path = tmp_path / "report.html"
        path.write_text(render(report_data(run)), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium() as found:
        yield found
