"""Run folders that lie: nothing is built, waited for or allocated that their files do not hold."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w
import torch

from ppro.data import load_graph, make_splits
from ppro.errors import RunError, SettingsError
from ppro.runs.config import RunConfig, run_settings
from ppro.runs.opening import open_run
from ppro.runs.writing import TrainedRun, write_run
from ppro.settings.recipe import parse_recipe, read_recipe
from ppro.settings.settings import Settings, assignments, parse_settings
from ppro.training.fit import fit

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder as it should be."""
    graph = load_graph("csbm", options={"nodes": 60, "features": 6})
    splits = make_splits(graph, "csbm", "random-60-20-20", 2, 0)
    settings = Settings(epochs=4, hidden=4, controller_units=4, max_steps=2)
    config = RunConfig(dataset="csbm", split="random-60-20-20", runs=2, settings=settings)
    result = fit(graph, splits, run_settings(config), threads=1)
    out = tmp_path_factory.mktemp("runs") / "run"
    write_run(out, TrainedRun.of(config, graph, splits, result, device="cpu"))
    return out


@pytest.fixture
def copy(run: Path, tmp_path: Path) -> Path:
    shutil.copytree(run, tmp_path / "run")
    return tmp_path / "run"


def everything(folder: Path) -> None:
    found = open_run(folder)
    found.model(CPU)
    found.whole(CPU)


def change_settings(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    import tomllib

    path = folder / "settings.toml"
    values = tomllib.loads(path.read_text())
    change(values)
    path.write_text(tomli_w.dumps(values))


@pytest.mark.parametrize(
    "lie",
    [
        ("runs", 10**9),
        ("runs", 9_999),
        ("runs", 1),
        ("settings.network.hidden", 10**7),
        ("settings.network.hidden", 65_000),
        ("settings.network.hidden", 5),
        ("settings.network.max_steps", 10**9),
        ("settings.controllers.controller_units", 65_000),
        ("settings.training.epochs", 10**12),
        ("trained.num_features", 10**9),
        ("trained.num_features", 10**18),
        ("trained.classes", ["a", "b"]),
        ("settings.backbone", "gcnii"),
    ],
    ids=lambda lie: f"{lie[0]}={lie[1]}",
)
def test_settings_that_are_not_of_the_weights_are_refused_at_once(
    copy: Path, lie: tuple[str, Any]
) -> None:
    def change(values: dict[str, Any]) -> None:
        *path, last = lie[0].split(".")
        for name in path:
            values = values[name]
        values[last] = lie[1]

    change_settings(copy, change)
    start = time.monotonic()
    with pytest.raises(RunError):
        everything(copy)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "name",
    ["settings.toml", "weights.safetensors", "metrics.jsonl", "result.json", "nodes.safetensors"],
)
@pytest.mark.parametrize("what", ["pipe", "folder", "device", "empty", "noise", "nested"])
def test_files_that_are_none_or_hold_nothing(copy: Path, name: str, what: str) -> None:
    path = copy / name
    path.unlink()
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "device":
        path.symlink_to("/dev/zero")
    else:
        nested = b"x = " + b"[" * 100_000 if name.endswith(".toml") else b"[" * 100_000
        path.write_bytes({"empty": b"", "noise": os.urandom(1000), "nested": nested}[what])
    with pytest.raises(RunError) as error:
        everything(copy)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


@pytest.mark.parametrize(
    "line",
    [
        {"epoch": 10**12, "run": 0},
        {"epoch": 1, "run": 10**12},
        {"epoch": 0, "run": 0},
        {"epoch": 1, "run": -1},
        {"epoch": "1", "run": 0},
        {"epoch": 1.5, "run": 0},
        {"epoch": True, "run": 0},
        {"run": 0},
        [],
        None,
        "x",
    ],
    ids=str,
)
def test_lines_of_metrics_that_lie(copy: Path, line: Any) -> None:
    row = {**line, "train_loss": 1.0} if isinstance(line, dict) else line
    path = copy / "metrics.jsonl"
    path.write_text(path.read_text() + json.dumps(row) + "\n")
    with pytest.raises(RunError, match=r"metrics\.jsonl: damaged"):
        everything(copy)


@pytest.mark.parametrize(
    "change",
    [
        {"per_run": {}},
        {"per_run": []},
        {"per_run": [[], []]},
        {"per_run": None},
        {"epochs": "many"},
        {"steps": {}},
        {"diagnosis": []},
        {"val_mean": "good"},
        {"notes": "text"},
        {"metric": 5},
    ],
    ids=str,
)
def test_results_that_lie(copy: Path, change: dict[str, Any]) -> None:
    path = copy / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(RunError, match=r"result\.json: damaged"):
        everything(copy)


def test_a_recipe_is_a_file_of_a_bounded_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    for path in (tmp_path / "pipe.toml", Path("/dev/zero"), tmp_path):
        with pytest.raises(SettingsError, match="cannot be read"):
            read_recipe(path)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 50_000,
        "x = " + "1" * 5_000,
        "a = 1\na = 2",
        "[settings]\nhidden = 1" + "0" * 40,
    ],
    ids=["nested", "digits", "twice", "large"],
)
def test_toml_that_strains_its_reader(text: str) -> None:
    with pytest.raises(SettingsError) as error:
        parse_recipe(f'dataset = "cora"\nsplit = "public"\n{text}', "recipe.toml")
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    "pair",
    [
        *("epochs=1000000000000", "hidden=10000000", "max_steps=100000", "seed=" + "9" * 5_000),
        *("patience=1e99", "epochs=" + "[" * 5_000, "warm_up=99999999999", "judge_every=10000000"),
    ],
    ids=lambda pair: pair[:24],
)
def test_settings_have_upper_limits(pair: str) -> None:
    with pytest.raises(SettingsError) as error:
        parse_settings(assignments([pair]), "--set")
    assert len(str(error.value)) < 400
