from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ParameterGrid
from torch_geometric.data import Data
from torch_geometric.nn import GCN, GraphSAGE, SAGEConv

import ppro
from ppro import DataError, PPro, PProClassifier, RunError, Settings, SettingsError, load_graph
from ppro.data import make_splits
from ppro.nn.backbones.appnp import APPNP
from ppro.parts import METRICS
from ppro.training.fit import fit, outcome_of_all
from ppro.training.stopping import MEASURED

OPTIONS = {"nodes": 90, "classes": 3, "features": 8, "degree": 6}
NAMES = np.array(["ant", "bee", "cat"])


@pytest.fixture(scope="module")
def graph() -> ppro.Graph:
    return load_graph("csbm", options=OPTIONS)


@pytest.fixture(scope="module")
def data(graph: ppro.Graph) -> Data:
    return Data(x=graph.features.to_dense(), edge_index=graph.edge_index, y=graph.labels)


def quick(backbone: Any = None, **changes: Any) -> PProClassifier:
    base: dict[str, Any] = {"hidden": 8, "epochs": 25, "max_steps": 3, "lr": 0.05, "device": "cpu"}
    return PPro(backbone, **{**base, **changes})


def test_both_names_are_one_class() -> None:
    assert PPro is PProClassifier is ppro.PProClassifier


def test_a_fitted_estimator_says_what_it_found(graph: ppro.Graph) -> None:
    estimator = quick()
    assert estimator.fit(graph) is estimator
    n, c = graph.num_nodes, graph.num_classes
    chances = estimator.predict_proba(graph)
    assert chances.shape == (n, c)
    assert np.allclose(chances.sum(1), 1, atol=1e-5)
    assert np.array_equal(estimator.predict(graph), estimator.classes_[chances.argmax(1)])
    assert estimator.classes_.tolist() == list(graph.class_names)
    assert estimator.propagation_steps_.shape == estimator.node_priorities_.shape == (n,)
    assert set(estimator.propagation_steps_.tolist()) <= {0, 1, 2, 3}
    assert estimator.embedding_.shape == (n, 8)
    assert set(estimator.history_) == set(MEASURED)
    assert estimator.history_["val_loss"].shape == (25,)
    assert estimator.n_features_in_ == 8
    assert estimator.score(graph) > 0.6
    best = np.nanmax(estimator.history_["val_accuracy"])
    assert estimator.validation_score_ == pytest.approx(best, abs=1e-5)
    assert not estimator.interrupted_


def test_it_is_the_same_training_as_fit(graph: ppro.Graph) -> None:
    splits = make_splits(graph, "csbm", "random-60-20-20", 2, 0)
    settings = [
        Settings(
            **{"hidden": 8, "epochs": 25, "max_steps": 3, "lr": 0.05, "strategy": "l2u"},
            **{"teaching": "compare", "warm_up": 6, "settle": 12, "lambda1": 0.5, "seed": seed},
        )
        for seed in (4, 5)
    ]
    expected = fit(graph, splits, settings)
    estimator = quick(strategy="l2u", n_runs=2, random_state=4, settings={"lambda1": 0.5})
    train, val, test = splits.train.numpy(), splits.val.numpy(), splits.test.numpy()
    estimator.fit(graph, train_mask=train, val_mask=val, test_mask=test)
    best = expected.best_run
    assert estimator.best_run_ == best
    assert list(estimator.settings_) == settings
    chances = estimator.predict_proba(graph)
    assert np.array_equal(chances, expected.nodes.probabilities[best].numpy())
    score = estimator.score(graph, mask=test)
    assert 100 * score == pytest.approx(float(expected.test_accuracy[best]), abs=1e-3)


def as_networkx(data: Data) -> Any:
    made = nx.Graph()
    for i, (x, y) in enumerate(zip(data.x.tolist(), data.y.tolist(), strict=True)):
        made.add_node(f"n{i}", x=x, y=y)
    made.add_edges_from((f"n{u}", f"n{v}") for u, v in data.edge_index.T.tolist())
    return made


def test_every_kind_of_graph_gives_the_same_result(graph: ppro.Graph, data: Data) -> None:
    expected = quick().fit(graph).predict_proba(graph)
    adjacency = nx.to_scipy_sparse_array(as_networkx(data))
    labels = graph.labels.numpy()
    pair = adjacency, data.x.numpy()
    for source, y in ((data, None), (as_networkx(data), None), (pair, labels), (graph, labels)):
        estimator = quick().fit(source, y)
        assert np.array_equal(estimator.predict_proba(source), expected)
        assert estimator.classes_.tolist() == [0, 1, 2]


def test_labels_may_be_names_with_gaps(graph: ppro.Graph) -> None:
    names = NAMES[graph.labels.numpy()].astype(object)
    gaps = names.copy()
    gaps[::3] = None
    estimator = quick().fit(graph, gaps)
    assert estimator.classes_.tolist() == NAMES.tolist()
    assert set(estimator.predict(graph)) <= set(NAMES)
    used = estimator.splits_.train[0] | estimator.splits_.val[0]
    assert not bool(used[::3].any())
    assert bool(used[1::3].all())
    codes = graph.labels.numpy().copy()
    codes[::3] = -1
    by_number = quick().fit(graph, codes)
    assert np.array_equal(by_number.predict_proba(graph), estimator.predict_proba(graph))
    hidden = np.arange(graph.num_nodes) % 3 == 0
    assert estimator.score(graph, names, hidden) > 0.5


OWN = [
    lambda: APPNP,
    lambda: GraphSAGE(8, 16, 3),
    lambda: GCN(8, 16, 3),
    lambda: [SAGEConv(8, 8), SAGEConv(8, 8)],
    *(lambda name=name: name for name in ("appnp", "gat", "gcn", "gcnii", "sgc")),
]


@pytest.mark.parametrize("backbone", OWN)
def test_any_backbone_trains_and_predicts_another_graph(data: Data, backbone: Any) -> None:
    estimator = quick(backbone(), strategy="l2b").fit(data)
    assert estimator.score(data) > 0.4
    other = load_graph("csbm", options={**OPTIONS, "nodes": 40})
    assert estimator.predict(other).shape == (40,)
    nodes = estimator.describe(other)
    assert nodes.steps.shape == nodes.priorities.shape == (40,)
    assert np.isfinite(nodes.embedding).all()


def test_a_new_graph_needs_no_labels(graph: ppro.Graph, data: Data) -> None:
    estimator = quick().fit(graph)
    bare = Data(x=data.x, edge_index=data.edge_index)
    assert np.array_equal(estimator.predict(bare), estimator.predict(graph))
    with pytest.raises(DataError, match="no labels to score against"):
        estimator.score(bare)


def test_another_number_of_features_is_refused(data: Data) -> None:
    estimator = quick().fit(data)
    with pytest.raises(DataError, match="7 features, but the model was trained on 8"):
        estimator.predict(Data(x=data.x[:, :7], edge_index=data.edge_index))


def test_masks_of_the_data_are_used(graph: ppro.Graph, data: Data) -> None:
    splits = make_splits(graph, "csbm", "random-60-20-20", 2, 0)
    masked = data.clone()
    masked.train_mask, masked.val_mask = splits.train.T, splits.val.T
    masked.test_mask = splits.test[0]
    with pytest.raises(DataError, match="in more than one of train, val and test"):
        quick(n_runs=2).fit(masked)
    masked.test_mask = splits.test.T
    estimator = quick(n_runs=2).fit(masked)
    assert torch.equal(estimator.splits_.train, splits.train)
    assert torch.equal(estimator.splits_.val, splits.val)
    expected = estimator.score(masked, mask=splits.test[estimator.best_run_].numpy())
    assert estimator.score(masked) == expected
    second: dict[str, Any] = {"train_mask": splits.train[1], "val_mask": splits.val[1]}
    given = quick().fit(masked, **second, test_mask=splits.test[1])
    assert torch.equal(given.splits_.train[0], splits.train[1])


def test_runs_and_seeds(graph: ppro.Graph) -> None:
    estimator = quick(n_runs=3, random_state=7).fit(graph)
    assert [s.seed for s in estimator.settings_] == [7, 8, 9]
    assert estimator.splits_.runs == 3
    assert not torch.equal(estimator.splits_.val[0], estimator.splits_.val[1])
    again = quick(n_runs=3, random_state=7).fit(graph)
    assert np.array_equal(again.predict_proba(graph), estimator.predict_proba(graph))
    other = quick(n_runs=3, random_state=np.random.RandomState(0)).fit(graph)
    assert other.settings_[0].seed != 7


def test_parameters_are_those_of_scikit_learn(data: Data) -> None:
    module = GraphSAGE(8, 8, 3)
    estimator = PPro(module, epsilon=0.7, settings={"lambda1": 2.0})
    assert estimator.get_params()["epsilon"] == 0.7
    assert estimator.set_params(epsilon=0.3) is estimator
    copied = clone(estimator)
    assert copied.epsilon == 0.3
    assert copied.settings == {"lambda1": 2.0}
    assert isinstance(copied.backbone, GraphSAGE)
    assert copied.backbone is not module
    before = [p.clone() for p in module.parameters()]
    estimator.set_params(epochs=2).fit(data)
    assert all(torch.equal(p, q) for p, q in zip(module.parameters(), before, strict=True))
    with pytest.raises(ValueError, match="Invalid parameter 'epsilom'"):
        estimator.set_params(epsilom=1)


def test_a_search_over_masks_clones(graph: ppro.Graph) -> None:
    grid = ParameterGrid({"epsilon": [0.3, 0.7], "strategy": ["l2b", "l2u"]})
    base = quick(epochs=5)
    fitted = [clone(base).set_params(**point).fit(graph) for point in grid]
    best = max(fitted, key=lambda estimator: estimator.validation_score_)
    assert best.validation_score_ >= fitted[0].validation_score_
    assert not hasattr(base, "classes_")


def test_explicit_parameters_go_before_settings(graph: ppro.Graph) -> None:
    everything = Settings(hidden=4, epochs=3, epsilon=0.25)
    estimator = PPro(hidden=8, settings=everything, device="cpu").fit(graph)
    assert estimator.settings_ == (everything.replace(hidden=8),)
    rival = PPro(epochs=3, settings={"model": "mlp"}, device="cpu").fit(graph)
    assert rival.settings_[0].model == "mlp"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"epsilom": 1}}, "unknown key 'epsilom'; did you mean 'epsilon'"),
        ({"strategy": "l2c"}, "strategy"),
        ({"backbone": "gnc"}, "backbone"),
        ({"dropout": 1.0}, "dropout"),
        ({"n_runs": 0}, "n_runs 0: give a whole number from 1"),
        ({"validation_share": 1.5}, "validation_share 1.5: give a share between 0 and 1"),
        ({"device": "gpu"}, "device 'gpu': unknown; use auto"),
        ({"device": "cuda:99"}, "device cuda:99: this machine has no such one"),
        ({"class_weight": {"9": 2}}, "class_weight: no class '9'; the classes are 0, 1, 2"),
        ({"class_weight": "even"}, "class_weight 'even': use 'balanced' or a dict"),
        ({"class_weight": {"1": -1.0}}, "weights must be positive and finite"),
        ({"settings": {"model": "mlp"}, "backbone": GraphSAGE(8, 8, 2)}, "no backbone"),
    ],
)
def test_wrong_parameters_are_told_by_fit(
    graph: ppro.Graph, changes: dict[str, Any], message: str
) -> None:
    estimator = quick(**changes)
    with pytest.raises(SettingsError, match=message):
        estimator.fit(graph)


def test_it_must_be_fitted_first(graph: ppro.Graph, tmp_path: Path) -> None:
    for act in (PPro().predict, PPro().predict_proba, PPro().score, PPro().describe):
        with pytest.raises(NotFittedError):
            act(graph)
    with pytest.raises(NotFittedError):
        PPro().save(tmp_path / "model")


def test_class_weights_help_the_small_class(data: Data) -> None:
    y = torch.where(data.y == 0, 0, 1)
    rare = (y == 0).nonzero().squeeze(1)[6:]
    y[rare] = -1
    found = [
        int((quick(class_weight=weight).fit(data, y).predict(data) == 0).sum())
        for weight in (None, "balanced", {0: 50.0})
    ]
    assert found[0] <= found[1] <= found[2]
    assert found[0] < found[2]


def test_fit_predict(graph: ppro.Graph) -> None:
    expected = quick().fit(graph).predict(graph)
    assert np.array_equal(quick().fit_predict(graph), expected)


def test_a_checkpoint_is_resumed(graph: ppro.Graph, tmp_path: Path) -> None:
    whole = quick(n_runs=2).fit(graph)
    first = quick(n_runs=2).fit(graph, checkpoint=tmp_path / "saved")
    again = quick(n_runs=2).fit(graph, checkpoint=str(tmp_path / "saved"), resume=True)
    for estimator in (first, again):
        assert np.array_equal(estimator.predict_proba(graph), whole.predict_proba(graph))
    with pytest.raises(RunError, match="differing in hidden"):
        quick(n_runs=2, hidden=4).fit(graph, checkpoint=tmp_path / "saved", resume=True)


def test_nothing_to_score_is_told(graph: ppro.Graph) -> None:
    estimator = quick(epochs=2).fit(graph)
    with pytest.raises(DataError, match="no node with a label to score"):
        estimator.score(graph, mask=np.zeros(graph.num_nodes, dtype=bool))


def test_what_is_no_graph_is_told() -> None:
    with pytest.raises(DataError, match="ndarray is no graph that PPro knows"):
        PPro().fit(np.zeros((3, 2)), [0, 1, 0])


def test_the_trained_graph_is_passed_through_once(
    graph: ppro.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = list[int]()

    def counted(model: Any, inputs: Any, graph: ppro.Graph, runs: int) -> Any:
        passes.append(runs)
        return outcome_of_all(model, inputs, graph, runs)

    monkeypatch.setattr("ppro.training.fit.outcome_of_all", counted)
    monkeypatch.setattr("ppro.runs.node_description.outcome_of_all", counted)
    estimator = quick(n_runs=3, epochs=4)
    predicted = estimator.fit_predict(graph)
    assert passes == [3]
    told = estimator.describe(graph)
    assert passes == [3, 3]
    assert np.array_equal(told.embedding, estimator.embedding_)
    assert np.array_equal(told.steps, estimator.propagation_steps_)
    assert np.array_equal(estimator.predict(graph), predicted)


@pytest.mark.parametrize("metric", METRICS.names())
def test_the_metric_chooses_and_scores(graph: ppro.Graph, metric: str) -> None:
    estimator = quick(metric=metric, n_runs=2, epochs=6).fit(graph)
    val = estimator.splits_.val[estimator.best_run_]
    assert estimator.score(graph, mask=val) == pytest.approx(estimator.validation_score_, abs=1e-6)
    epoch = int(estimator.run_.history.best_epoch[estimator.best_run_])
    assert estimator.history_["val_score"][epoch] == pytest.approx(estimator.validation_score_)


def test_a_class_that_was_not_trained_counts_against_the_score(graph: ppro.Graph) -> None:
    names = NAMES[graph.labels.numpy()].astype(object)
    known = np.where(names == NAMES[0], None, names)
    for metric in ("accuracy", "roc-auc"):
        estimator = quick(metric=metric, epochs=4).fit(graph, known)
        assert estimator.classes_.tolist() == NAMES[1:].tolist()
        assert estimator.score(graph, names) < estimator.score(graph, known)


def test_an_unknown_metric_is_told(graph: ppro.Graph) -> None:
    with pytest.raises(SettingsError, match="no metric 'roc'; did you mean 'roc-auc'"):
        quick(metric="roc").fit(graph)


def test_a_fitted_estimator_tells_how_far_nodes_differ(tmp_path: Path) -> None:
    graph = load_graph("csbm", options={"nodes": 60})
    still = {"propagation_bias": -50.0, "lr_controller": 1e-9, "teaching": "paper"}
    model = PPro(epochs=3, max_steps=3, n_runs=2, device="cpu", settings=still).fit(graph)
    assert model.diagnosis_ is not None
    assert model.diagnosis_.verdicts()[0].startswith("nearly all nodes share a step")
    assert model.diagnosis_.steps is not None
    shares = np.bincount(model.propagation_steps_, minlength=4) / 60
    assert model.diagnosis_.steps[model.best_run_].shares == pytest.approx(shares, abs=1e-5)
    assert model.diagnosis_.priorities is not None
    told = model.diagnosis_.priorities[model.best_run_]
    assert told.mean == pytest.approx(float(model.node_priorities_.mean()), rel=1e-4)
    model.save(tmp_path / "model")
    assert ppro.load(tmp_path / "model", device="cpu").diagnosis_ == model.diagnosis_
    bare = PPro(strategy="none", epochs=2, max_steps=2, device="cpu").fit(graph)
    assert bare.diagnosis_ is not None
    assert bare.diagnosis_.steps is None
    assert bare.diagnosis_.priorities is None
