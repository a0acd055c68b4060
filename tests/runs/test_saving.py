from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE, SAGEConv

import ppro
from ppro import PProClassifier, RunError, load, load_graph
from ppro.data import make_splits
from ppro.data.files.schema import Schema, write_schema
from ppro.nn.backbones.appnp import APPNP
from ppro.runs.runfolder import RunConfig, run_settings, summary, write_run
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit

FIRST = Path(__file__).parent / "fixtures" / "format-1"
OPTIONS = {"nodes": 60, "classes": 3, "features": 8}


@pytest.fixture(scope="module")
def graph() -> ppro.Graph:
    return load_graph("csbm", options=OPTIONS)


def quick(backbone: Any = None, **changes: Any) -> PProClassifier:
    base: dict[str, Any] = {"hidden": 8, "epochs": 12, "max_steps": 3, "lr": 0.05, "device": "cpu"}
    return PProClassifier(backbone, **{**base, **changes})


def assert_same(a: PProClassifier, b: PProClassifier, graph: Any) -> None:
    """Predictions and what was fitted, bit by bit."""
    one, other = a.describe(graph), b.describe(graph)
    for name in ("probabilities", "steps", "priorities", "embedding"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(a.predict(graph), b.predict(graph))
    for name in ("classes_", "propagation_steps_", "node_priorities_", "embedding_"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
        assert getattr(a, name).dtype == getattr(b, name).dtype, name
    assert a.history_.keys() == b.history_.keys()
    for name, values in a.history_.items():
        assert np.array_equal(values, b.history_[name])
    for name in ("n_features_in_", "best_run_", "settings_", "validation_score_", "interrupted_"):
        assert getattr(a, name) == getattr(b, name), name
    assert torch.equal(a.splits_.train, b.splits_.train)
    assert a.splits_.name == b.splits_.name


CASES: list[dict[str, Any]] = [
    {},
    {"strategy": "l2u", "n_runs": 3, "random_state": 5},
    {"settings": ppro.Settings(lambda1=0.5), "class_weight": {"1": 2.0}},
    {"settings": {"model": "gcn"}, "random_state": np.random.RandomState(0)},
    *({"backbone": name} for name in ("gat", "gcn", "gcnii", "sgc")),
]


@pytest.mark.parametrize("changes", CASES, ids=range(len(CASES)))
def test_what_is_loaded_is_what_was_saved(
    graph: ppro.Graph, tmp_path: Path, changes: dict[str, Any]
) -> None:
    fitted = quick(**changes).fit(graph)
    fitted.save(tmp_path / "model")
    loaded = load(tmp_path / "model", device="cpu")
    assert_same(fitted, loaded, graph)
    again = loaded.fit(graph)
    assert np.array_equal(again.predict_proba(graph), fitted.predict_proba(graph))


@pytest.mark.parametrize(
    "labels", [["a", "b", None], [4, 7, -1], [True, False, None], [1.0, 2.0, np.nan]], ids=str
)
def test_classes_keep_their_type(graph: ppro.Graph, tmp_path: Path, labels: list[Any]) -> None:
    y = [labels[c] for c in graph.labels.tolist()]
    fitted = quick().fit(graph, y)
    fitted.save(tmp_path / "model")
    assert_same(fitted, load(tmp_path / "model", device="cpu"), graph)


OWN = [lambda: GraphSAGE(8, 8, 3), lambda: [SAGEConv(8, 6), SAGEConv(6, 6)], lambda: APPNP]


@pytest.mark.parametrize("own", OWN)
def test_a_model_around_your_own_modules_asks_for_them(
    graph: ppro.Graph, tmp_path: Path, own: Any
) -> None:
    fitted = quick(own()).fit(graph)
    fitted.save(tmp_path / "model")
    with pytest.raises(RunError, match="which is not saved; give it again"):
        load(tmp_path / "model")
    loaded = load(tmp_path / "model", backbone=own(), device="cpu")
    assert_same(fitted, loaded, graph)


def test_other_modules_are_refused(graph: ppro.Graph, tmp_path: Path) -> None:
    quick(GraphSAGE(8, 8, 3)).fit(graph).save(tmp_path / "own")
    with pytest.raises(RunError, match=r"weights\.safetensors: not of the settings"):
        load(tmp_path / "own", backbone=GraphSAGE(8, 9, 3))
    quick().fit(graph).save(tmp_path / "named")
    with pytest.raises(RunError, match="trained around appnp; leave the argument backbone out"):
        load(tmp_path / "named", backbone=GraphSAGE(8, 8, 3))


def test_a_folder_in_use_is_not_overwritten(graph: ppro.Graph, tmp_path: Path) -> None:
    fitted = quick().fit(graph)
    fitted.save(tmp_path / "model")
    with pytest.raises(RunError, match="already exists"):
        fitted.save(tmp_path / "model")


def test_an_unwritable_folder_is_told(graph: ppro.Graph, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="cannot be written"):
        quick().fit(graph).save(tmp_path / "file" / "model")


@pytest.fixture
def folder(graph: ppro.Graph, tmp_path: Path) -> Path:
    quick().fit(graph).save(tmp_path / "model")
    return tmp_path / "model"


def test_damage_is_named(folder: Path) -> None:
    marker = folder / "estimator.json"
    text = marker.read_text()
    for content, message in (
        ("{", r"estimator\.json"),
        (text.replace('"format": 1', '"format": 2'), "format 2, but this version reads format 1"),
        (text.replace('"best_run"', '"best_rum"'), "unknown key 'best_rum'|'best_run' is missing"),
    ):
        marker.write_text(content)
        with pytest.raises(RunError, match=message):
            load(folder)
    marker.write_text(text)
    for name in ("weights", "fitted"):
        file = folder / f"{name}.safetensors"
        whole = file.read_bytes()
        file.write_bytes(whole[:100])
        with pytest.raises(RunError, match=f"{name}.safetensors: damaged"):
            load(folder)
        file.unlink()
        with pytest.raises(RunError, match=f"{name}.safetensors: missing"):
            load(folder)
        file.write_bytes(whole)


def test_what_is_no_run_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        load(tmp_path)


def train_folder(graph: ppro.Graph, out: Path, **changes: Any) -> Fit:
    """A folder as ``ppro train`` writes it."""
    settings = Settings(hidden=8, epochs=12, max_steps=3, lr=0.05).replace(**changes)
    config = RunConfig(dataset="csbm", split="random-60-20-20", runs=3, settings=settings)
    splits = make_splits(graph, "csbm", config.split, 3, 0)
    result = fit(graph, splits, run_settings(config))
    write_run(out, config, graph, splits, result, summary(config, result, out, "cpu"))
    return result


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"strategy": "l2u", "form": "class"},
        {"form": "features", "concat": True},
        {"model": "mlp"},
        {"backbone": "gat", "heads": 2},
    ],
)
def test_the_folder_of_a_training_loads_too(
    graph: ppro.Graph, tmp_path: Path, changes: dict[str, Any]
) -> None:
    result = train_folder(graph, tmp_path / "run", **changes)
    loaded = load(tmp_path / "run", device="cpu")
    best = result.best_run
    nodes = loaded.describe(graph)
    assert loaded.best_run_ == best
    assert np.array_equal(nodes.probabilities, result.nodes.probabilities[best].numpy())
    assert np.array_equal(nodes.steps, result.nodes.steps[best].numpy())
    assert np.array_equal(nodes.priorities, result.nodes.priorities[best].numpy())
    assert np.array_equal(loaded.propagation_steps_, nodes.steps)
    assert np.allclose(loaded.node_priorities_, nodes.priorities, atol=1e-5)
    assert loaded.classes_.tolist() == list(graph.class_names)
    assert loaded.validation_score_ == pytest.approx(float(result.val_accuracy[best]) / 100)
    epochs = int(result.history.epochs[best])
    assert loaded.history_["val_loss"].shape == (epochs,)


def test_the_folder_of_a_training_on_files(graph: ppro.Graph, tmp_path: Path) -> None:
    result = train_folder(graph, tmp_path / "run")
    schema = Schema(kind="arrays", num_features=8, class_names=graph.class_names)
    write_schema(tmp_path / "run" / "schema.json", schema)
    loaded = load(tmp_path / "run", device="cpu")
    expected = result.nodes.probabilities[result.best_run].numpy()
    assert np.array_equal(loaded.predict_proba(graph), expected)


def test_weights_of_other_settings_are_told(graph: ppro.Graph, tmp_path: Path) -> None:
    train_folder(graph, tmp_path / "run")
    settings = tmp_path / "run" / "settings.toml"
    settings.write_text(settings.read_text().replace('model = "ppro"', 'model = "mlp"'))
    with pytest.raises(RunError, match="the weights are not of the settings"):
        load(tmp_path / "run")
    (tmp_path / "run" / "weights.safetensors").unlink()
    with pytest.raises(RunError, match=r"weights\.safetensors: missing"):
        load(tmp_path / "run")


def test_damage_in_the_folder_of_a_training_is_named(graph: ppro.Graph, tmp_path: Path) -> None:
    train_folder(graph, tmp_path / "run")
    for name in ("nodes.csv", "metrics.jsonl", "result.json", "weights.safetensors"):
        path = tmp_path / "run" / name
        content = path.read_bytes()
        for broken in (b"", b"\xff{"):
            path.write_bytes(broken)
            if name != "metrics.jsonl" or broken:
                with pytest.raises(RunError, match=name.replace(".", r"\.")):
                    load(tmp_path / "run")
        path.write_bytes(content)


@pytest.fixture(scope="module")
def first() -> Data:
    tensors = load_file(str(FIRST / "graph.safetensors"))
    return Data(x=tensors["features"], edge_index=tensors["edge_index"], y=tensors["labels"])


@pytest.mark.parametrize("kind", ["estimator", "run"])
def test_the_first_format_still_loads(first: Data, kind: str) -> None:
    expected = json.loads((FIRST / "expected.json").read_text())[kind]
    loaded = load(FIRST / kind, device="cpu")
    nodes = loaded.describe(first)
    assert loaded.classes_.tolist() == expected["classes"]
    assert loaded.predict(first).tolist() == expected["predicted"]
    assert nodes.steps.tolist() == expected["steps"] == loaded.propagation_steps_.tolist()
    assert np.allclose(nodes.probabilities, expected["probabilities"], atol=1e-5)
    assert np.allclose(nodes.priorities, expected["priorities"], atol=1e-5)
    assert np.allclose(loaded.node_priorities_, expected["priorities"], atol=1e-5)
