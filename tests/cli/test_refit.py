"""Once more on all labels: for as many epochs as the best states took, kept in the run folder."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import torch

from ppro.runs.opening import open_run
from ppro.runs.refit import all_labels, refit_settings
from ppro.settings.settings import Settings
from ppro.training.fit import fit
from ppro.training.stopping import History
from tests.cli.conftest import Command

SMALL = ("--option", "nodes=80", "--runs", "2", "--set", "epochs=12", "--set", "hidden=8")


def test_it_learns_from_all_labels_for_the_mean_of_the_best_epochs(
    ppro: Command, workplace: Path
) -> None:
    done = ppro("train", "csbm", *SMALL, "--refit", "--json", "--out", "run")
    assert done.status == 0, done.err
    facts = json.loads(done.out)
    best = [row["best_epoch"] for row in facts["per_run"]]
    epochs = round(sum(best) / 2)
    assert facts["refit"] == {"out": str(Path("run/refit")), "epochs": epochs}
    assert f"on all labels, for {epochs} epoch" in done.err
    saved = open_run("run/refit")
    assert saved.settings[0].training.epochs == epochs
    assert bool(saved.nodes().splits.train.all())
    chosen = facts["per_run"][facts["best_run"]]
    assert saved.facts["per_run"][0]["temperature"] == chosen["temperature"]
    assert ppro("predict", "run", "--refit", "--out", "new.csv").out.startswith(
        "run 0: 80 nodes, none of them for testing"
    )
    with Path("new.csv").open(encoding="utf-8", newline="") as file:
        assert {row["split"] for row in csv.DictReader(file)} == {"train"}
    assert Path("new.csv").read_bytes() == Path("run/refit/nodes.csv").read_bytes()


def test_its_last_state_counts(ppro: Command, workplace: Path) -> None:
    from ppro import load_graph

    graph = load_graph("csbm", options={"nodes": 80})
    settings = Settings(epochs=6, patience=6, hidden=8, selection="last")
    result = fit(graph, all_labels(graph), [settings])
    assert result.history.best_epoch.tolist() == [5]


def test_epochs_are_the_mean_of_the_best() -> None:
    history = History(torch.zeros(9, 6, 3), torch.tensor([2, 3, 8]), torch.tensor([9, 9, 9]))
    chosen = refit_settings(Settings(epochs=9, patience=3), history).training
    assert (chosen.epochs, chosen.patience, chosen.selection) == (5, 5, "last")


def test_without_a_refit_predict_says_how_to_get_one(ppro: Command, workplace: Path) -> None:
    assert ppro("train", "csbm", *SMALL, "--set", "epochs=1", "--out", "run").status == 0
    assert "train with --refit" in ppro("predict", "run", "--refit").error


def test_ctrl_c_leaves_the_run_without_it(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ppro.runs.refit.fit", stopped)
    done = ppro("train", "csbm", *SMALL, "--refit", "--out", "run")
    assert done.status == 130
    assert "without the refit" in done.err
    assert not Path("run/refit").exists()
    assert "refit" not in json.loads(Path("run/result.json").read_text(encoding="utf-8"))
