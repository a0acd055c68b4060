"""Thresholds, calibrated probabilities and other metrics of a fitted estimator, saved or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn import metrics as sk

from ppro import PPro, RunError, SettingsError, load, load_graph
from ppro.graph.core import Graph
from ppro.parts import METRICS
from ppro.runs.calibrating import adjusted_chances, calibration_of, threshold_of
from ppro.training.calibration import best_threshold

NAMES = np.array(["rare", "usual"])


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 240, "classes": 4, "features": 8})


@pytest.fixture(scope="module")
def labels(graph: Graph) -> NDArray[np.str_]:
    return np.asarray(NAMES[(graph.labels.numpy() > 0).astype(int)])


@pytest.fixture(scope="module")
def fitted(graph: Graph, labels: NDArray[np.str_]) -> PPro:
    model = PPro(epochs=15, hidden=8, max_steps=2, n_runs=2, random_state=1, device="cpu")
    return model.fit(graph, labels)


def test_every_metric_of_the_training_is_there_and_scores_again(
    fitted: PPro, graph: Graph, labels: NDArray[np.str_]
) -> None:
    val = fitted.splits_.val[fitted.best_run_]
    for name in METRICS.names():
        again = fitted.score(graph, labels, val, metric=name)
        assert fitted.metrics_["val"][name] == pytest.approx(again, abs=1e-6)
    assert np.isnan(fitted.metrics_["test"]["accuracy"])


def test_the_best_threshold_is_that_of_the_validation_nodes(
    fitted: PPro, graph: Graph, labels: NDArray[np.str_]
) -> None:
    assert fitted.positive_class_ == "rare"
    val = fitted.splits_.val[fitted.best_run_].numpy()
    column = fitted.classes_.tolist().index("rare")
    chances = fitted.predict_proba(graph)[:, column]
    expected = best_threshold(
        torch.from_numpy(chances[val].copy()), torch.from_numpy(labels[val] == "rare")
    )
    assert fitted.threshold_ == pytest.approx(expected)
    assert fitted.threshold_ is not None
    told = fitted.predict(graph, threshold="best")
    assert np.array_equal(told == "rare", chances >= fitted.threshold_)
    plain = sk.f1_score(labels[val], fitted.predict(graph)[val], pos_label="rare")
    assert sk.f1_score(labels[val], told[val], pos_label="rare") >= plain
    assert set(fitted.predict(graph, threshold=0.0)) == {"rare"}


def test_calibrated_probabilities_fit_the_validation_nodes_at_least_as_well(
    fitted: PPro, graph: Graph, labels: NDArray[np.str_]
) -> None:
    val = fitted.splits_.val[fitted.best_run_].numpy()
    plain, honest = (fitted.predict_proba(graph, calibrated=c) for c in (False, True))
    assert np.array_equal(plain.argmax(1), honest.argmax(1))
    doubles = [p[val] / p[val].sum(1, keepdims=True, dtype=float) for p in (plain, honest)]
    losses = [sk.log_loss(labels[val], p) for p in doubles]
    assert losses[1] <= losses[0] + 1e-6


def test_a_saved_estimator_knows_them_too(fitted: PPro, graph: Graph, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model", device="cpu")
    for name in ("temperature_", "threshold_", "positive_class_"):
        assert getattr(again, name) == getattr(fitted, name)
    assert again.metrics_["val"] == fitted.metrics_["val"]
    told = again.predict(graph, threshold="best")
    assert np.array_equal(told, fitted.predict(graph, threshold="best"))


def test_more_than_two_classes_have_no_threshold(graph: Graph) -> None:
    model = PPro(epochs=2, hidden=8, max_steps=2, device="cpu").fit(graph)
    assert model.threshold_ is None
    assert not hasattr(model, "positive_class_")
    with pytest.raises(SettingsError, match="decides between two classes"):
        model.predict(graph, threshold=0.5)
    assert model.predict_proba(graph, calibrated=True).shape == (240, 4)


def test_a_run_of_an_older_version_says_what_it_lacks() -> None:
    old = load(Path(__file__).parents[1] / "fixtures" / "format-1" / "run", device="cpu")
    assert old.metrics_ == {}
    assert not hasattr(old, "temperature_")
    assert calibration_of(old.run_.facts, 0) is None
    assert old.run_.nodes.probabilities is not None
    with pytest.raises(RunError, match="train again"):
        adjusted_chances(old.run_.nodes.probabilities, None, calibrated=True)


@pytest.mark.parametrize("word", ["1.5", "-0.1", "much", "nan"])
def test_a_wrong_threshold_is_told(word: str) -> None:
    with pytest.raises(SettingsError, match="give a number from 0 to 1, or best"):
        threshold_of(word)
