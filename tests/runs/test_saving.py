from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE, SAGEConv

import ppro
import ppro.runs
from ppro import PProClassifier, RunError, load, load_graph
from ppro.data import make_splits
from ppro.nn.backbones.appnp import APPNP
from ppro.runs.config import RunConfig, run_settings, write_config
from ppro.runs.opening import open_run
from ppro.runs.writing import TrainedRun, write_run
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit

FIRST = Path(__file__).parents[1] / "fixtures" / "format-1"
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
        assert np.array_equal(values, b.history_[name], equal_nan=True)
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
    loaded.save(tmp_path / "again")
    assert_same(fitted, load(tmp_path / "again", device="cpu"), graph)
    for name in ("nodes.csv", "metrics.jsonl", "weights.safetensors", "nodes.safetensors"):
        saved = (tmp_path / "model" / name).read_bytes()
        assert saved == (tmp_path / "again" / name).read_bytes(), name
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format = 2", "format = 3", "format 3, but this version reads format 2"),
        ("best_run", "best_rum", "unknown key 'trained.best_rum'"),
        ("num_features = 8", "", "the key 'trained.num_features' is missing"),
        ("num_features = 8", "num_features = 9", "not of the settings in settings.toml"),
        ('model = "ppro"', 'model = "mlp"', "unknown key 'settings.alpha'"),
        ("hidden = 8", "hidden = 9", r"weights.safetensors: not of the settings in settings.toml"),
        ("format = 2", "[", "settings.toml: damaged"),
    ],
)
def test_damaged_settings_are_told_in_one_line(
    folder: Path, old: str, new: str, message: str
) -> None:
    marker = folder / "settings.toml"
    text = marker.read_text()
    assert old in text
    marker.write_text(text.replace(old, new, 1))
    with pytest.raises(RunError, match=message) as told:
        load(folder)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["weights.safetensors", "nodes.safetensors"])
def test_one_changed_bit_is_found(folder: Path, name: str) -> None:
    file = folder / name
    whole = file.read_bytes()
    for place in (-1, -len(whole) // 3):
        spoiled = bytearray(whole)
        spoiled[place] ^= 1
        file.write_bytes(spoiled)
        with pytest.raises(RunError, match=rf"{name}: damaged \(its checksum differs"):
            load(folder)
    file.write_bytes(whole)


def test_damage_is_named(folder: Path) -> None:
    for name in ("weights.safetensors", "nodes.safetensors", "metrics.jsonl", "result.json"):
        file = folder / name
        whole = file.read_bytes()
        for content in (whole[:100], b"\xff{"):
            file.write_bytes(content)
            with pytest.raises(RunError, match=rf"{name}: damaged"):
                load(folder)
        file.unlink()
        with pytest.raises(RunError, match=rf"{name}: .*missing"):
            load(folder)
        file.write_bytes(whole)
    load(folder)


def test_the_graph_s_table_is_kept_too(graph: ppro.Graph, folder: Path) -> None:
    rows = (folder / "nodes.csv").read_text().splitlines()
    assert rows[0] == "id,label,predicted,probability,step,priority,split,p_0,p_1,p_2"
    assert len(rows) == graph.num_nodes + 1
    opened = ppro.runs.open(folder)
    assert opened.trained.num_features == 8
    assert opened.class_names == graph.class_names
    assert opened.facts["per_run"][0]["val_score"] == load(folder).validation_score_


def test_what_is_no_run_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        load(tmp_path)


def train_folder(graph: ppro.Graph, out: Path, **changes: Any) -> Fit:
    """A folder as ``ppro train`` writes it."""
    settings = Settings(hidden=8, epochs=12, max_steps=3, lr=0.05).replace(**changes)
    config = RunConfig(dataset="csbm", split="random-60-20-20", runs=3, settings=settings)
    splits = make_splits(graph, "csbm", config.split, 3, 0)
    result = fit(graph, splits, run_settings(config))
    write_run(out, TrainedRun.of(config, graph, splits, result, device="cpu"))
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
    assert np.array_equal(loaded.node_priorities_, nodes.priorities)
    assert np.array_equal(loaded.embedding_, nodes.embedding)
    assert loaded.splits_.runs == 3
    assert loaded.classes_.tolist() == list(graph.class_names)
    assert loaded.validation_score_ == pytest.approx(float(result.val_accuracy[best]) / 100)
    epochs = int(result.history.epochs[best])
    assert loaded.history_["val_loss"].shape == (epochs,)


def test_one_run_of_many_is_opened_alone(graph: ppro.Graph, tmp_path: Path) -> None:
    result = train_folder(graph, tmp_path / "run")
    alone = open_run(tmp_path / "run").model(torch.device("cpu"), run=1)
    whole = dict(result.model.named_parameters())
    for name, parameter in alone.named_parameters():
        assert torch.equal(parameter[0], whole[name][1])
    with pytest.raises(RunError, match=r"--run 3: out of range; .* holds runs 0 to 2"):
        open_run(tmp_path / "run").chosen(3)


def test_a_training_that_is_not_finished_is_told(graph: ppro.Graph, tmp_path: Path) -> None:
    settings = Settings(hidden=8)
    write_config(tmp_path, RunConfig(dataset="csbm", split="public", runs=1, settings=settings))
    with pytest.raises(RunError, match="not finished; go on with ppro train --resume"):
        open_run(tmp_path)


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


@pytest.mark.parametrize("kind", ["estimator", "run"])
def test_the_first_format_is_saved_as_that_of_today(first: Data, tmp_path: Path, kind: str) -> None:
    loaded = load(FIRST / kind, device="cpu")
    loaded.save(tmp_path / "new")
    again = load(tmp_path / "new", device="cpu")
    assert np.array_equal(again.predict_proba(first), loaded.predict_proba(first))
    assert again.settings_ == loaded.settings_
    assert np.array_equal(again.history_["val_loss"], loaded.history_["val_loss"])
    assert again.validation_score_ == loaded.validation_score_


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("estimator/estimator.json", "{", "[", "estimator.json"),
        ("estimator/estimator.json", '"format": 1', '"format": 2', "format 2 is not known"),
        ("estimator/estimator.json", '"best_run"', '"best_rum"', "best_ru"),
        ("run/nodes.csv", "step", "stop", "nodes.csv: damaged"),
        ("run/nodes.csv", "1.04363", "x", "nodes.csv: damaged"),
        ("run/result.json", "per_run", "per_rum", "result.json: damaged"),
        ("run/settings.toml", "appnp", "gcnii", "not of the settings"),
    ],
)
def test_damage_in_the_first_format_is_named(
    tmp_path: Path, file: str, old: str, new: str, message: str
) -> None:
    shutil.copytree(FIRST, tmp_path / "copy")
    path = tmp_path / "copy" / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(RunError, match=message):
        load(path.parent)
