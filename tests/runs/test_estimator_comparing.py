"""The estimator with controllers that compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE

import ppro
from ppro import PPro, PProClassifier, SettingsError, load_graph
from ppro.nn.comparing.network import ComparingNetwork

OPTIONS = {"nodes": 150, "classes": 3}


@pytest.fixture(scope="module")
def graph() -> ppro.Graph:
    return load_graph("planted", options=OPTIONS)


def quick(backbone: Any = None, **changes: Any) -> PProClassifier:
    base: dict[str, Any] = {
        **{"teaching": "compare", "hidden": 16, "epochs": 60, "max_steps": 4, "device": "cpu"},
        **{"lr": 0.02, "feature_norm": "none", "random_state": 0, "n_runs": 2},
        "settings": {"warm_up": 10, "settle": 10, "lr_controller": 0.02},
    }
    return PPro(backbone, **{**base, **changes})


@pytest.fixture(scope="module")
def fitted(graph: ppro.Graph) -> PProClassifier:
    return quick(judges="folds").fit(graph)


def test_steps_and_priorities(graph: ppro.Graph, fitted: PProClassifier) -> None:
    assert isinstance(fitted.model_, ComparingNetwork)
    assert fitted.settings_[0].controllers.judges == "folds"
    assert fitted.propagation_steps_.shape == fitted.node_priorities_.shape == (150,)
    assert set(fitted.propagation_steps_.tolist()) <= {0, 1, 2, 3, 4}
    assert len(set(fitted.propagation_steps_.tolist())) > 1
    assert fitted.node_priorities_.std() > 0
    assert fitted.node_priorities_.mean() == pytest.approx(1, abs=0.2)
    assert fitted.score(graph) > 0.6
    scores = fitted.history_["val_score"]
    assert fitted.validation_score_ == pytest.approx(np.nanmax(scores), abs=1e-5)


def test_it_is_saved_and_read(graph: ppro.Graph, fitted: PProClassifier, tmp_path: Path) -> None:
    fitted.save(tmp_path / "run")
    again = ppro.load(tmp_path / "run")
    assert np.array_equal(again.predict_proba(graph), fitted.predict_proba(graph))
    assert np.array_equal(again.propagation_steps_, fitted.propagation_steps_)
    assert np.array_equal(again.node_priorities_, fitted.node_priorities_)
    assert again.settings_ == fitted.settings_


def test_a_graph_it_has_not_seen(graph: ppro.Graph, fitted: PProClassifier) -> None:
    x = graph.features.to_dense()
    kept = torch.arange(150) % 10 != 0
    number = kept.cumsum(0) - 1
    inside = kept[graph.edge_index].all(0)
    part = Data(x=x[kept], edge_index=number[graph.edge_index[:, inside]])
    told = fitted.describe(part)
    assert told.probabilities.shape == (135, 3)
    assert np.allclose(told.probabilities.sum(1), 1, atol=1e-5)
    same = fitted.predict(part) == fitted.predict(graph)[kept.numpy()]
    assert same.mean() > 0.8
    lonely = Data(x=x[:3], edge_index=torch.zeros(2, 0, dtype=torch.int64))
    assert np.isfinite(fitted.describe(lonely).probabilities).all()
    assert np.isfinite(fitted.describe(lonely).priorities).all()


@pytest.mark.parametrize(
    "changes",
    [{"judges": "train"}, {"settings": {"judge_share": 0.3}}, {"strategy": "l2u", "n_runs": 1}],
)
def test_other_judges(graph: ppro.Graph, changes: dict[str, Any]) -> None:
    estimator = quick(**{"epochs": 10, **changes}).fit(graph)
    assert np.isfinite(estimator.predict_proba(graph)).all()
    assert clone(estimator).get_params()["teaching"] == "compare"


def test_a_model_of_pytorch_geometric(graph: ppro.Graph) -> None:
    estimator = quick(GraphSAGE(32, 8, 3), epochs=6, n_runs=1).fit(graph)
    assert isinstance(estimator.model_, ComparingNetwork)
    assert int(estimator.propagation_steps_.max()) <= 2


def test_a_training_is_resumed(graph: ppro.Graph, tmp_path: Path) -> None:
    whole = quick(epochs=12).fit(graph)
    quick(epochs=12).fit(graph, checkpoint=tmp_path)
    resumed = quick(epochs=12).fit(graph, checkpoint=tmp_path, resume=True)
    assert np.array_equal(whole.predict_proba(graph), resumed.predict_proba(graph))


def test_wrong_judges_are_told_by_fit(graph: ppro.Graph) -> None:
    with pytest.raises(SettingsError, match="no kind of judges 'fold'; did you mean 'folds'"):
        quick(judges="fold").fit(graph)
    with pytest.raises(SettingsError, match="set teaching=compare"):
        quick(teaching="paper", judges="folds").fit(graph)
