from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import QUICK, Command, everything


@pytest.fixture
def run(ppro: Command, workplace: Path) -> Path:
    assert ppro("train", "digits", *QUICK, "--seed", "5", "--out", "run").status == 0
    return workplace / "run"


def test_predict_repeats_the_table_of_the_training(ppro: Command, run: Path) -> None:
    ended = ppro("predict", run)
    assert ended.status == 0
    assert ended.out.splitlines()[-1] == f"written to {run / 'predictions.csv'}"
    assert (run / "predictions.csv").read_bytes() == (run / "nodes.csv").read_bytes()
    modes = {(run / name).stat().st_mode for name in ("predictions.csv", "nodes.csv")}
    assert len(modes) == 1


def test_each_run_can_be_asked_for(ppro: Command, run: Path, workplace: Path) -> None:
    tables = []
    for k in "01":
        assert ppro("predict", run, "--run", k, "--out", f"new/{k}.csv").out.startswith(f"run {k}:")
        tables.append((workplace / f"new/{k}.csv").read_bytes())
    assert tables[0] != tables[1]
    assert (run / "nodes.csv").read_bytes() in tables
    assert everything(workplace / "new") == {"0.csv", "1.csv"}


def test_the_table_of_nodes_holds_what_it_promises(run: Path) -> None:
    with (run / "nodes.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1797
    probabilities = [f"p_{k}" for k in range(10)]
    names = ["id", "label", "predicted", "probability", "step", "priority", "split"]
    assert list(rows[0]) == [*names, *probabilities]
    for row in rows:
        chances = [float(row[name]) for name in probabilities]
        assert sum(chances) == pytest.approx(1, abs=1e-4)
        assert chances[int(row["predicted"])] == max(chances) == float(row["probability"])
        assert 1 <= int(row["step"]) <= 10
        assert float(row["priority"]) >= 0
        assert row["split"] in ("train", "val", "test")


def edited(name: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(run: Path) -> None:
        text = (run / name).read_text(encoding="utf-8")
        assert old in text
        (run / name).write_text(text.replace(old, new), encoding="utf-8")

    return edit


def removed(name: str) -> Callable[[Path], None]:
    return lambda run: (run / name).unlink()


def overwritten(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda run: (run / name).write_bytes(content)


def shortened(run: Path) -> None:
    path = run / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


SETTINGS, WEIGHTS = "settings.toml", "weights.safetensors"
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (shutil.rmtree, "not a run folder (no settings.toml)"),
    "no settings": (removed(SETTINGS), "not a run folder (no settings.toml)"),
    "not TOML": (overwritten(SETTINGS, b"a = = 1"), "damaged (Invalid value"),
    "not text": (overwritten(SETTINGS, b"\xff"), "damaged ('utf-8' codec"),
    "empty settings": (overwritten(SETTINGS, b""), "format None, but this version reads format 2"),
    "newer": (edited(SETTINGS, "format = 2", "format = 3"), "format 3, but this version reads"),
    "key": (edited(SETTINGS, "hidden =", "hiden ="), "'settings.hiden'; did you mean 'hidden'?"),
    "top key": (edited(SETTINGS, "runs", "rums"), "the key 'runs' is missing; add it"),
    "no runs": (edited(SETTINGS, "runs = 2", "runs = 0"), "runs: input should be greater than"),
    "dataset": (edited(SETTINGS, '"digits"', '"digit"'), "unknown dataset 'digit'"),
    "split": (edited(SETTINGS, "random-60-20-20", "half"), "unknown split 'half'"),
    "shapes": (edited(SETTINGS, "hidden = 64", "hidden = 8"), "not of the settings in settings.to"),
    "no weights": (removed(WEIGHTS), "weights.safetensors: missing; train again"),
    "weights": (overwritten(WEIGHTS, b"x"), "weights.safetensors: damaged"),
    "half the weights": (shortened, "weights.safetensors: damaged"),
}


def test_a_damaged_run_folder_is_a_one_line_error(ppro: Command, run: Path) -> None:
    whole = run.with_name("whole")
    run.rename(whole)
    for damage, told in DAMAGE.values():
        shutil.copytree(whole, run, dirs_exist_ok=True)
        damage(run)
        error = ppro("predict", run).error
        assert str(run) in error or "unknown" in error
        assert told in error
        assert not (run / "predictions.csv").exists()


def test_wrong_arguments(ppro: Command, run: Path, workplace: Path) -> None:
    before = everything(workplace)
    assert "--run 7: out of range" in ppro("predict", run, "--run", "7").error
    assert "holds runs 0 to 1" in ppro("predict", run, "--run", "2").error
    assert "is a folder; name a CSV or Parquet file" in ppro("predict", run, "--out", run).error
    assert "cannot be written" in ppro("predict", run, "--out", run / "nodes.csv/x.csv").error
    assert "device 'gpu': unknown" in ppro("predict", run, "--device", "gpu").error
    for command in ("predict", "report"):
        assert "other: no such file; give the new graph" in ppro(command, run, "other").error
    assert ppro("predict").status == 2
    assert everything(workplace) == before
