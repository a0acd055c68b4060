from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
import torch

from ppro.errors import RunError
from ppro.files import dump_json, free_name, is_taken, whole_file, whole_folder
from ppro.runs.config import RunConfig, read_config, run_settings, write_config
from ppro.runs.summary import mean_std
from ppro.runs.tensors import read_weights, write_weights
from ppro.runs.writing import check_writable
from ppro.settings.settings import Settings

CONFIG = RunConfig(dataset="csbm", split="random-60-20-20", runs=3, settings=Settings(seed=5))


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_run_r_has_seed_plus_r() -> None:
    assert [settings.seed for settings in run_settings(CONFIG)] == [5, 6, 7]


def test_settings_survive_writing_and_reading(tmp_path: Path) -> None:
    write_config(tmp_path, CONFIG)
    assert read_config(tmp_path) == CONFIG


def test_a_folder_appears_when_it_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "a/b/run"
    with whole_folder(out) as folder:
        (folder / "settings.toml").write_text("x")
        assert not out.exists()
    assert names(tmp_path) == {"a", "a/b", "a/b/run", "a/b/run/settings.toml"}
    assert stat.S_IMODE(out.stat().st_mode) == stat.S_IMODE((tmp_path / "a").stat().st_mode)


def test_an_empty_folder_is_filled_in_place(tmp_path: Path) -> None:
    out = tmp_path / "run"
    out.mkdir()
    before = out.stat().st_ino
    with whole_folder(out) as folder:
        (folder / "settings.toml").write_text("x")
        (folder / "weights").write_text("y")
    assert names(out) == {"settings.toml", "weights"}
    assert out.stat().st_ino == before


def half_a_folder(out: Path, error: type[BaseException]) -> None:
    with whole_folder(out) as folder:
        (folder / "half").write_text("x")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_that_fails_leaves_nothing(
    tmp_path: Path, error: type[BaseException], exists: bool
) -> None:
    if exists:
        (tmp_path / "a/run").mkdir(parents=True)
    before = names(tmp_path)
    with pytest.raises(error):
        half_a_folder(tmp_path / "a/run", error)
    assert names(tmp_path) == before


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a/b.csv"
    with whole_file(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    usual = tmp_path / "usual"
    usual.touch()
    assert path.stat().st_mode == usual.stat().st_mode


def half_a_file(path: Path) -> None:
    with whole_file(path) as temporary:
        temporary.write_text("ne")
        raise KeyboardInterrupt


def test_a_file_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        half_a_file(path)
    assert path.read_text() == "old"
    with pytest.raises(KeyboardInterrupt):
        half_a_file(tmp_path / "x/y/z")
    assert names(tmp_path) == {"b.csv"}


def test_a_place_is_checked_without_a_trace(tmp_path: Path) -> None:
    check_writable(tmp_path / "a/b/c")
    (tmp_path / "empty").mkdir()
    check_writable(tmp_path / "empty")
    assert names(tmp_path) == {"empty"}


@pytest.mark.parametrize("taken", ["file", "full", "link"])
def test_a_taken_place(tmp_path: Path, taken: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full/x").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert is_taken(tmp_path / taken)
    with pytest.raises(RunError, match="already exists; choose another --out"):
        check_writable(tmp_path / taken)
    assert free_name(tmp_path, taken) == tmp_path / f"{taken}-2"
    assert free_name(tmp_path, "new") == tmp_path / "new"


def test_a_place_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(RunError, match=r"\(Permission denied\); choose another --out"):
        check_writable(tmp_path / "run")


def test_weights_survive_writing_and_reading(tmp_path: Path) -> None:
    model, other = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
    write_weights(tmp_path, model)
    read_weights(tmp_path, other)
    assert torch.equal(model.weight, other.weight)
    assert torch.equal(model.bias, other.bias)
    with pytest.raises(RunError, match=r"not of the settings in settings.toml: size mismatch for"):
        read_weights(tmp_path, torch.nn.Linear(2, 4))


def test_one_run_has_no_spread() -> None:
    assert mean_std(torch.tensor([50.0])) == (50.0, 0.0)
    assert mean_std(torch.tensor([1.0, 3.0])) == pytest.approx((2.0, 2**0.5))


def test_json_holds_no_nan() -> None:
    value = {"a": float("nan"), "b": [1.5, float("inf")], "c": ("x", None)}
    assert json.loads(dump_json(value)) == {"a": None, "b": [1.5, None], "c": ["x", None]}
