"""``ppro --load FILE``: parts and datasets of a user's own script, by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ppro.data import DATASETS
from ppro.parts import METRICS, scripts
from tests.cli.conftest import Command

TINY = ("--set", "epochs=2", "--runs", "2", "--json")

RING = '''
import torch

from ppro import Graph
from ppro.data import DatasetInfo, Generator, Option, register_dataset


def ring(info, seed, options):
    """A ring of nodes in two colours, half of it each."""
    n = int(options["nodes"])
    one = torch.arange(n)
    labels = (one >= n // 2).long()
    features = torch.randn(n, 4, generator=torch.Generator().manual_seed(seed))
    edges = torch.stack([one, (one + 1) % n])
    return Graph.build(info.name, edges, features + labels.unsqueeze(1), labels)


register_dataset(
    DatasetInfo(
        name="ring",
        title="Ring",
        kind="homophilous",
        generator=Generator(ring, {"nodes": Option(40, 10, 1000, whole=True)}),
        note="the ring is made for a test.",
    )
)
'''
METRIC = '''
from ppro.training.metrics import Metric


class Hits(Metric):
    """The share of right answers, counted once more."""

    name = "hits"
    title = "hits"

    def measure(self, probabilities, labels):
        return float((probabilities.argmax(-1) == labels).mean())
'''


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a script defines is gone after the test."""
    monkeypatch.setattr(scripts, "_LOADED", [])
    monkeypatch.setattr(METRICS, "_parts", dict(METRICS._parts))
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in list(DATASETS):
        monkeypatch.setitem(DATASETS, name, DATASETS[name])
    monkeypatch.setitem(DATASETS, "ring", DATASETS["csbm"])
    monkeypatch.delitem(DATASETS, "ring")


@pytest.fixture
def ring(workplace: Path) -> Path:
    path = workplace / "my ring.py"
    path.write_text(RING, encoding="utf-8")
    return path


def test_the_script_is_short() -> None:
    assert len(RING.strip().splitlines()) <= 40


def test_a_dataset_of_a_script_is_listed_described_trained_and_opened(
    ppro: Command, ring: Path
) -> None:
    load = ("--load", ring)
    listed = ppro(*load, "data", "list").out
    assert "ring " in listed
    assert "the ring is made for a test." in listed
    described = ppro(*load, "data", "describe", "ring", "--option", "nodes=60").out
    assert "nodes                 60" in described
    assert "homophilous" in described
    ended = ppro(*load, "train", "ring", "--option", "nodes=60", *TINY, "--out", "run")
    assert ended.status == 0, ended.err
    facts = json.loads(ended.out)
    assert (facts["dataset"], facts["split"]) == ("ring", "random-60-20-20")
    few = "few epochs: of 2, controllers warm up in 0 and settle in 1"
    assert [note.split(";")[0] for note in facts["notes"]] == ["the ring is made for a test.", few]
    assert ppro(*load, "predict", "run", "--out", "nodes.csv").status == 0
    assert len(Path("nodes.csv").read_text(encoding="utf-8").splitlines()) == 61
    assert "ring" in ppro(*load, "parts").out


def test_a_rival_a_recipe_and_wrong_options_know_it_too(ppro: Command, ring: Path) -> None:
    load = ("--load", ring)
    assert ppro(*load, "train", "ring", "--model", "mlp", *TINY).status == 0
    Path("own.toml").write_text('dataset = "ring"\nsplit = "random-60-20-20"\n', encoding="utf-8")
    assert ppro(*load, "train", "ring", "--recipe", "own.toml", *TINY).status == 0
    assert "nodes is 5, expected a whole number from 10 to 1000" in (
        ppro(*load, "train", "ring", "--option", "nodes=5").error
    )
    assert "ring has no split 'public'" in ppro(*load, "train", "ring", "--split", "public").error


def test_without_its_script_a_run_says_what_is_missing(ppro: Command, ring: Path) -> None:
    assert ppro("--load", ring, "train", "ring", *TINY, "--out", "run").status == 0
    assert ".py" not in Path("run/settings.toml").read_text(encoding="utf-8")
    for words in (("predict", "run"), ("train", "ring")):
        command = [sys.executable, "-m", "ppro", *words]
        ended = subprocess.run(command, capture_output=True, encoding="utf-8")
        assert ended.returncode == 2
        assert "ppro --load FILE" in ended.stderr
        assert ended.stderr.count("\n") == 1


def test_a_metric_of_a_script_trains_and_is_needed_again(ppro: Command, workplace: Path) -> None:
    path = workplace / "hits.py"
    path.write_text(METRIC, encoding="utf-8")
    words = ("train", "csbm", "--option", "nodes=60", "--set", "metric=hits", "--out", "run")
    assert "no metric 'hits'" in ppro(*words).error
    ended = ppro("--load", path, *words, *TINY)
    assert ended.status == 0, ended.err
    assert "hits" in METRICS
    command = [sys.executable, "-m", "ppro", "predict", "run"]
    ended_alone = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert ended_alone.returncode == 2
    assert "metric 'hits'" in ended_alone.stderr
    assert "ppro --load FILE" in ended_alone.stderr


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("gone.py", None, "--load gone.py: no such file; name a Python script"),
        ("notes.txt", "x = 1", "--load notes.txt: not a Python script"),
        ("broken.py", "x = = 1", "--load broken.py: SyntaxError: invalid syntax"),
        ("fails.py", "1 / 0", "--load fails.py: ZeroDivisionError: division by zero"),
        (
            "taken.py",
            "from ppro.data import *\nregister_dataset(DATASETS['cora'])",
            "--load taken.py: dataset 'cora': the package has one; choose another name",
        ),
        (
            "kindless.py",
            "from ppro.data import DatasetInfo\nDatasetInfo('a', 'A', 'odd')",
            "--load kindless.py: a: kind is 'odd'; say homophilous or heterophilous",
        ),
    ],
)
def test_a_script_that_cannot_be_run(ppro: Command, name: str, text: str | None, told: str) -> None:
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    assert ppro("--load", name, "data", "list").error.startswith(told)
    assert scripts.loaded() == []


def test_a_script_runs_once_and_processes_can_be_told(ppro: Command, workplace: Path) -> None:
    path = workplace / "counts.py"
    path.write_text("import os\nos.environ['COUNTED'] = os.environ.get('COUNTED', '') + 'x'\n")
    scripts.load_scripts([path, path, "counts.py"])
    assert scripts.loaded() == [str(path)]
    assert os.environ.pop("COUNTED") == "x"
