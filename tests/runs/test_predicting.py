"""Saved runs applied to graphs: of 0.1, of a training, and of an estimator with a new file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ppro import PPro, RunError, load_graph
from ppro.data import make_splits
from ppro.data.files import FileSource, save_graph
from ppro.graph.core import Graph
from ppro.insight.explain import explain_run
from ppro.runs.opening import open_run
from ppro.runs.predicting import predict_nodes, quality
from ppro.runs.source import graph_of_run
from ppro.runs.writing import TrainedRun, write_run

CPU = torch.device("cpu")
FIRST = Path(__file__).parents[1] / "fixtures" / "format-1"


@pytest.fixture
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 60, "classes": 3, "features": 8})


@pytest.fixture
def saved(graph: Graph, tmp_path: Path) -> Path:
    estimator = PPro(epochs=4, hidden=8, max_steps=3, metric="macro-f1", device="cpu")
    estimator.fit(graph).save(tmp_path / "model")
    return tmp_path / "model"


def test_a_run_of_the_first_format_predicts_and_explains_its_graph() -> None:
    opened = open_run(FIRST / "run")
    graph, splits = graph_of_run(opened)
    records, propagated = predict_nodes(opened, graph, splits, run=opened.chosen(None), device=CPU)
    kept = opened.nodes()
    assert propagated == 24
    assert torch.equal(records.steps, kept.steps)
    assert kept.probabilities is not None
    torch.testing.assert_close(records.probabilities, kept.probabilities, atol=1e-5, rtol=0)
    assert quality(records, "accuracy") == "test accuracy 66.67 %"
    told = explain_run(FIRST / "run")
    assert torch.equal(told.explanation.steps, kept.steps)
    assert told.saved.facts["per_run"][0]["val_score"] == 1.0


def test_an_estimator_takes_a_graph_from_a_file(graph: Graph, saved: Path, tmp_path: Path) -> None:
    opened = open_run(saved)
    with pytest.raises(RunError, match="saved by an estimator, which does not keep its graph"):
        graph_of_run(opened)
    save_graph(
        tmp_path / "new.safetensors",
        Data(x=graph.features, edge_index=graph.edge_index, y=graph.labels),
    )
    new, splits = graph_of_run(opened, FileSource(graph=str(tmp_path / "new.safetensors")))
    records, _ = predict_nodes(opened, new, splits, run=0, device=CPU)
    assert records.probabilities is not None
    expected = opened.nodes().probabilities
    assert expected is not None
    assert np.array_equal(records.probabilities.numpy(), expected.numpy())
    said = quality(records, opened.config.settings.training.metric)
    assert said.startswith("accuracy ")
    assert ", macro F1 " in said
    assert said.endswith(" on the 60 with a label")


def test_a_graph_of_another_size_is_refused(saved: Path) -> None:
    other = load_graph("csbm", options={"nodes": 40, "classes": 3, "features": 9})
    splits = make_splits(other, "csbm", "random-60-20-20", 1, 0)
    with pytest.raises(RunError, match=r"trained on 8 features and 3 classes, but .* has 9 and 3"):
        predict_nodes(open_run(saved), other, splits, run=0, device=CPU)


def test_a_large_graph_keeps_neither_probabilities_nor_embeddings(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: TrainedRun = PPro(epochs=2, hidden=8, max_steps=2, device="cpu").fit(graph).run_
    monkeypatch.setattr("ppro.runs.writing.LARGE", 60)
    write_run(tmp_path / "large", run)
    kept = open_run(tmp_path / "large").nodes()
    assert kept.probabilities is kept.embedding is None
    assert torch.equal(kept.steps, run.nodes.steps)
    assert (tmp_path / "large" / "nodes.csv").exists()
