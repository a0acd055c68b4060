"""``ppro train --compare``, and what is told when steps or priorities collapse."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ppro.cli.afterwards import NOT_COMPARED, Afterwards
from ppro.errors import SettingsError
from ppro.settings.settings import Settings
from ppro.training import fit as fitting
from tests.cli.conftest import QUICK, Command, everything

SMALL = ("csbm", "--option", "nodes=60", "--set", "max_steps=3")


def facts_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return found


def joined(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_the_backbone_alone_is_trained_on_the_same_seeds(
    ppro: Command, workplace: Path, strategy: str
) -> None:
    ended = ppro("train", *SMALL, *QUICK, "--strategy", strategy, "--compare", "--out", "run")
    assert ended.status == 0, ended.err
    assert "comparing with the bare backbone at depths 0, 1, 2, 3" in ended.err
    found = facts_of(workplace / "run")["against_backbone"]
    assert list(found["tried"]) == ["0", "1", "2", "3"]
    assert found["runs"] == 2
    row = next(line for line in ended.out.splitlines() if line.startswith("paired difference"))
    assert f"{found['difference']:+.2f} ± {found['standard_error']:.2f} over 2 runs" in row
    best, depth = max(found["tried"].values()), str(found["steps"])
    assert found["tried"][depth] == best
    # The same training by hand: the strategy without controllers at that depth.
    words = ("csbm", "--option", "nodes=60", "--set", f"max_steps={depth}", *QUICK)
    alone = ppro("train", *words, "--strategy", "none", "--out", "alone")
    assert alone.status == 0, alone.err
    ours, theirs = (
        [run["test_accuracy"] for run in facts_of(workplace / name)["per_run"]]
        for name in ("run", "alone")
    )
    mean = sum(a - b for a, b in zip(ours, theirs, strict=True)) / 2
    assert found["difference"] == pytest.approx(mean, abs=1e-3)


def test_the_run_itself_is_the_same_with_and_without(ppro: Command, workplace: Path) -> None:
    for name, more in (("a", ()), ("b", ("--compare",))):
        assert ppro("train", *SMALL, *QUICK, *more, "--out", name).status == 0
    files = ("settings.toml", "metrics.jsonl", "weights.safetensors", "nodes.csv")
    for file in files:
        assert (workplace / "a" / file).read_bytes() == (workplace / "b" / file).read_bytes()
    assert "against_backbone" not in facts_of(workplace / "a")


def test_files_of_the_user_are_compared_too(ppro: Command, workplace: Path) -> None:
    rows = [f"{i},{i % 5},{'ab'[i % 2]}" for i in range(60)]
    ends = [f"{i},{(i + 2) % 60}" for i in range(60)]
    for name, lines in (("nodes", ["id,x,y", *rows]), ("edges", ["source,target", *ends])):
        (workplace / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--label", "y")
    ended = ppro("train", *files, *QUICK, "--set", "max_steps=2", "--compare", "--json")
    assert ended.status == 0, ended.err
    assert list(json.loads(ended.out)["against_backbone"]["tried"]) == ["0", "1", "2"]


@pytest.mark.parametrize("backbone", ["gcn", "gat", "gcnii", "sgc"])
def test_other_backbones_are_compared(ppro: Command, backbone: str) -> None:
    words = (*SMALL, *QUICK, "--backbone", backbone, "--compare", "--json", "--out", "run")
    ended = ppro("train", *words)
    assert ended.status == 0, ended.err
    assert json.loads(ended.out)["against_backbone"]["runs"] == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--model", "gcn"), "gcn is a rival without controllers"),
        (("--strategy", "none"), "strategy none is the bare backbone itself"),
    ],
)
def test_nothing_to_compare_with(
    ppro: Command, workplace: Path, options: tuple[str, str], told: str
) -> None:
    assert told in ppro("train", "csbm", *options, "--compare", *QUICK).error
    assert everything(workplace) == set()


def test_ctrl_c_in_the_comparison_keeps_the_training(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, trained = fitting.fit, list[str]()

    def fit(graph: Any, splits: Any, settings: Any, **options: Any) -> Any:
        trained.append(f"{settings[0].strategy} {settings[0].network.max_steps}")
        if trained[-1] == "none 1":
            raise KeyboardInterrupt
        return real(graph, splits, settings, **options)

    monkeypatch.setattr(fitting, "fit", fit)
    ended = ppro("train", *SMALL, *QUICK, "--compare", "--out", "run", "--json")
    assert trained == ["l2b 3", "none 0", "none 1"]
    assert ended.status == 130
    assert ended.err.splitlines()[-1] == NOT_COMPARED
    facts = json.loads(ended.out)
    assert not facts["interrupted"]
    assert "against_backbone" not in facts
    assert facts_of(workplace / "run") == facts
    assert ppro("report", "run").status == 0
    assert not list(workplace.parent.rglob("*checkpoint"))


def test_ctrl_c_inside_a_comparison_is_the_same(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fitting.fit

    def fit(graph: Any, splits: Any, settings: Any, **options: Any) -> Any:
        if settings[0].strategy == "none":

            def press(done: int, metrics: Any, going: int) -> None:
                os.kill(os.getpid(), signal.SIGINT)

            options["on_epoch"] = press
        return real(graph, splits, settings, **options)

    monkeypatch.setattr(fitting, "fit", fit)
    ended = ppro("train", *SMALL, *QUICK, "--compare", "--out", "run")
    assert (ended.status, ended.err.splitlines()[-1]) == (130, NOT_COMPARED)
    assert "test accuracy" in ended.out
    assert "against_backbone" not in facts_of(workplace / "run")
    assert ppro("predict", "run").status == 0


def test_processes_that_train_together_do_not_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SettingsError, match="leave torchrun out"):
        Afterwards(compare=True, refit=False).check(Settings())


def test_a_training_that_was_cut_short_is_not_compared(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fitting.fit

    def fit(*args: Any, **options: Any) -> Any:
        result = real(*args, **options)
        return replace(result, history=replace(result.history, interrupted=True))

    monkeypatch.setattr(fitting, "fit", fit)
    ended = ppro("train", *SMALL, *QUICK, "--compare", "--out", "run")
    assert ended.status == 130
    assert "paired difference" not in ended.out
    assert "--resume goes on from here" in ended.err


def test_one_run_has_no_standard_error(ppro: Command) -> None:
    ended = ppro("train", *SMALL, "--set", "epochs=3", "--runs", "1", "--compare")
    assert ended.status == 0, ended.err
    assert "over 1 run: too few to tell" in ended.out


def test_a_collapse_is_told_with_what_to_do(ppro: Command) -> None:
    # Nobody breaks before the last step, and no controller learns to.
    still = ("--set", "propagation_bias=-50", "--set", "lr_controller=1e-9", "--set", "lambda1=0.1")
    told = joined(ppro("train", *SMALL, *QUICK, *still).out)
    wanted = "nearly all nodes share a step: more than 95 % are at one in 2 of 2 runs (step 3); "
    assert wanted + "--compare tells whether one depth for all does as well, --set" in told
    compared = joined(ppro("train", *SMALL, *QUICK, *still, "--compare").out)
    assert wanted + "--set teaching=compare teaches by comparing steps" in compared


PERSONAL = (
    *("planted", "--option", "nodes=400", "--runs", "2", "--set", "max_steps=4"),
    *("--set", "feature_norm=none"),
    *("--set", "epochs=60", "--set", "teaching=compare", "--set", "judges=folds"),
)
"""Half of the nodes need step 0, the others a late one."""


@pytest.mark.parametrize("strategy", ["none", "l2b", "l2u"])
def test_nothing_is_told_where_nothing_collapses(ppro: Command, strategy: str) -> None:
    ended = ppro("train", *PERSONAL, "--strategy", strategy, "--json")
    found = json.loads(ended.out)["diagnosis"]
    if strategy == "none":
        assert found["shares"] is found["priorities"] is None
    else:
        assert max(max(run) for run in found["shares"]) < 0.95
        assert min(found["priorities"]["deviation"]) > 0.01
    assert "nearly all nodes" not in ended.err
    assert "all priorities are equal" not in ended.err


def test_priorities_at_their_cap_are_told(ppro: Command) -> None:
    capped = ("--set", "weight_form=tanh", "--set", "lambda1=0.001", "--set", "lr_controller=0.1")
    words = (*SMALL, "--runs", "2", "--set", "epochs=40", "--set", "teaching=paper", *capped)
    told = joined(ppro("train", *words).out)
    assert "all priorities are equal: the same for every node in 2 of 2 runs, as large" in told
    assert "a larger lambda1 than 0.001 or --set priority_scale=mean lets them differ" in told
