"""Metrics on the command line: what selects, what is told, and few positives among many nodes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ppro.runs.opening import open_run
from tests.cli.conftest import Command

FILES = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--label", "kind")
QUICK = ("--runs", "2", "--set", "epochs=25", "--set", "max_steps=2", "--set", "hidden=8")


@pytest.fixture
def frauds(workplace: Path) -> Path:
    """A graph of 300 nodes of which 12 are frauds; one feature tells them apart a little."""
    rng = np.random.default_rng(0)
    kinds = np.where(np.arange(300) % 25 == 0, "fraud", "usual")
    features = rng.normal(size=(300, 4)) + 1.5 * (kinds == "fraud")[:, None]
    with Path("nodes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "a", "b", "c", "d", "kind"])
        writer.writerows(
            [f"n{i}", *row.round(3), kind]
            for i, (row, kind) in enumerate(zip(features, kinds, strict=True))
        )
    with Path("edges.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target"])
        writer.writerows([f"n{a}", f"n{b}"] for a, b in rng.integers(0, 300, (600, 2)))
    return workplace


def _facts(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


def test_few_positives_are_told_with_the_metric_to_take(ppro: Command, frauds: Path) -> None:
    done = ppro("train", *FILES, *QUICK, "--set", "epochs=20", "--out", "run")
    assert done.status == 0, done.err
    told = " ".join(done.out.split())
    assert "accuracy is no better than the majority class" in told
    assert "% of the test nodes are 'usual'" in told
    assert "% of the nodes are 'fraud', of which" in told
    assert "--metric average-precision selects epochs and settings by it" in told
    assert "--class-weight balanced" in told
    assert "class precision recall F1 nodes as fraud as usual" in told
    assert "other test metrics: balanced accuracy" in told


def test_the_metric_and_the_weights_of_the_classes_are_options(ppro: Command, frauds: Path) -> None:
    words = ("--metric", "average-precision", "--class-weight", "balanced", "--json")
    done = ppro("train", *FILES, *QUICK, *words, "--out", "run")
    assert done.status == 0, done.err
    facts = _facts(done.out)
    assert facts["metric"] == "average-precision"
    assert "test average precision" in done.err
    assert facts["positive"] == 0
    for run in facts["per_run"]:
        assert run["val_score"] == pytest.approx(run["metrics"]["val"]["average-precision"])
        assert run["test_score"] == pytest.approx(run["metrics"]["test"]["average-precision"])
    saved = (frauds / "run" / "settings.toml").read_text(encoding="utf-8")
    assert 'metric = "average-precision"' in saved
    assert '"balanced"' in saved
    plain = _facts(ppro("train", *FILES, *QUICK, "--json", "--out", "plain").out)
    recall = (
        [row["recall"] for row in facts["classes"]],
        [row["recall"] for row in plain["classes"]],
    )
    assert recall[0][0] > recall[1][0]


def test_less_is_better_of_a_loss(ppro: Command, frauds: Path) -> None:
    done = ppro("train", *FILES, *QUICK, "--metric", "log-loss", "--runs", "3", "--json")
    facts = _facts(done.out)
    scores = [run["val_score"] for run in facts["per_run"]]
    assert facts["best_run"] == int(np.argmin(scores))
    values = open_run(facts["out"]).metrics()["val_score"]
    for run, row in enumerate(facts["per_run"]):
        assert row["best_epoch"] == int(np.nanargmin(values[:, run])) + 1


def test_a_search_ranks_by_the_metric(ppro: Command, frauds: Path) -> None:
    few = ("--trials", "3", "--seeds", "1", "--set", "epochs=5", "--set", "hidden=8")
    done = ppro("tune", *FILES, *few, "--metric", "log-loss", "--json")
    assert done.status == 0, done.err
    facts = _facts(done.out)
    assert facts["metric"] == facts["settings"]["metric"] == "log-loss"
    tried = [row["validation"][0] for row in facts["tried"]]
    assert min(tried) > 0
    assert facts["best"]["validation_mean"] == min(tried)
    assert "best validation log loss" in done.err


def test_auto_ranks_by_the_metric(ppro: Command, frauds: Path) -> None:
    words = ("--recipe", "auto", "--budget", "2", "--metric", "average-precision")
    done = ppro("train", *FILES, *words, "--runs", "1", "--set", "epochs=2", "--json")
    assert done.status == 0, done.err
    assert "validation average precision " in done.err
    assert _facts(done.out)["metric"] == "average-precision"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--metric", "avarage-precision"], "did you mean 'average-precision'"),
        (["--class-weight", "fruad=3"], "no class 'fruad'; did you mean 'fraud'?"),
        (["--class-weight", "fraud=-3"], "expected balanced, or CLASS=WEIGHT"),
        (["--class-weight", "even"], "even: expected balanced, or CLASS=WEIGHT"),
    ],
)
def test_what_is_not_known_is_told(
    ppro: Command, frauds: Path, words: list[str], told: str
) -> None:
    done = ppro("train", *FILES, *QUICK, *words, "--out", "run")
    assert done.status == 2
    assert told in done.err.splitlines()[-1]


def test_predict_tells_classes_and_takes_a_threshold_and_a_temperature(
    ppro: Command, frauds: Path
) -> None:
    facts = _facts(ppro("train", *FILES, *QUICK, "--json", "--out", "run").out)
    plain = ppro("predict", "run", "--out", "plain.csv")
    told = " ".join(plain.out.split())
    assert "classes on the test nodes class precision recall F1 nodes as fraud as usual" in told
    assert "other test metrics: balanced accuracy" in told
    words = ("--calibrated", "--threshold", "best", "--out", "best.csv")
    assert ppro("predict", "run", *words).status == 0
    best = facts["per_run"][facts["best_run"]]
    before, after = (_table(name) for name in ("plain.csv", "best.csv"))
    chances = np.array([float(row["p_fraud"]) for row in before])
    heated = chances ** (1 / best["temperature"])
    heated /= heated + (1 - chances) ** (1 / best["temperature"])
    assert np.array([float(row["p_fraud"]) for row in after]) == pytest.approx(heated, abs=1e-4)
    assert [row["predicted"] == "fraud" for row in after] == list(chances >= best["threshold"])
    for row in after:
        assert row["probability"] == row[f"p_{row['predicted']}"]


def _table(name: str) -> list[dict[str, str]]:
    with Path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_threshold_that_makes_no_sense_is_told(ppro: Command, frauds: Path) -> None:
    assert "from 0 to 1, or best" in ppro("predict", "run", "--threshold", "2").error
