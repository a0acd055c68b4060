from __future__ import annotations

import json
import os
import pickle
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ppro.cli.outcome import histogram
from ppro.compute.device import find_device
from ppro.data import DATASETS
from ppro.errors import SettingsError
from ppro.search.choice import choose_recipe
from ppro.settings.recipe import Recipe
from ppro.settings.recipes import shipped_recipe
from ppro.settings.settings import Settings, assignments
from ppro.training import fit as fitting
from tests.cli.conftest import QUICK, Command, everything

TINY = ("--set", "epochs=1", "--runs", "1", "--json")


def chosen(dataset: str, *changes: str, split: str | None = None, **options: Any) -> Recipe:
    recipe = options.pop("recipe", None)
    return choose_recipe(
        dataset, recipe, split=split, options=options, changes=assignments(changes)
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["coraa"], "unknown dataset 'coraa'; did you mean 'cora'"),
        (["csbm", "--strategy", "l2x"], "no strategy 'l2x'; did you mean 'l2"),
        (["csbm", "--set", "strategy=l2x"], "no strategy 'l2x'; did you mean 'l2"),
        (
            ["csbm", "--backbone", "gta"],
            "no backbone 'gta'; did you mean 'gat'? (one of your own is known once the script",
        ),
        (["csbm", "--split", "publik"], "csbm has no split 'publik'; it has random-60-20-20"),
        (["digits", "--split", "public"], "digits has no split 'public'; it has random-60-20-20"),
        (["csbm", "--set", "dropot=0.1"], "unknown key 'dropot'; did you mean 'dropout'?"),
        (["csbm", "--set", "dropout"], "--set dropout: expected key=value"),
        (["csbm", "--set", "=3"], "--set =3: expected key=value"),
        (["csbm", "--set", "dropout=1"], "dropout: input should be less than 1 (got 1)"),
        (["csbm", "--set", "dropout=much"], "dropout: input should be a valid number"),
        (["csbm", "--set", "lr=inf"], "lr: input should be a finite number"),
        (["csbm", "--set", "lambda1=nan"], "lambda1: input should be a finite number"),
        (["csbm", "--seed", "4", "--set", "seed=5"], "--seed 4 and --set seed=5 disagree"),
        (["csbm", "--seed", "2147483648"], "seed: input should be less than 2147483648"),
        (["csbm", "--device", "gpu"], "device 'gpu': unknown; use auto, cpu, cuda or cuda:N"),
        (["csbm", "--device", "meta"], "device 'meta': unknown; use auto, cpu, cuda or cuda:N"),
        (["csbm", "--device", "cuda:99"], "this machine has no such one; use cpu"),
        (["csbm", "--recipe", "gone.toml"], "gone.toml: cannot be read (No such file"),
        (["csbm", "--recipe", "folder"], "no recipe 'folder'; see 'ppro recipes list'"),
        (["csbm", "--recipe", "folder/"], "no recipe 'folder/'; see 'ppro recipes list'"),
        (["csbm", "--recipe", "."], ".: cannot be read (Is a directory)"),
        (["csbm", "--recipe", "cora-l2c"], "no recipe 'cora-l2c'; did you mean 'cora-l2"),
        (["csbm", "--recipe", "broken.toml"], "broken.toml: not valid TOML"),
        (["csbm", "--recipe", "binary.toml"], "binary.toml: not a text file"),
        (
            ["csbm", "--recipe", "odd.toml"],
            "unknown key 'settings.epsilom'; did you mean 'epsilon'",
        ),
        (["csbm", "--recipe", "bare.toml"], "bare.toml: the key 'split' is missing; add it"),
        (["csbm", "--out", "folder"], "folder: already exists; choose another --out or remove it"),
        (["csbm", "--out", "bare.toml"], "bare.toml: already exists; choose another --out"),
        (["csbm", "--out", "bare.toml/a/b"], "(Not a directory); choose another --out"),
        (["csbm", "--out", "x" * 300], "(File name too long); choose another --out"),
        (["cora", "--data-root", "gone"], "names gone, which is not a readable folder"),
        (["cora", "--data-root", "bare.toml"], "which is not a readable folder"),
    ],
)
def test_an_error_is_one_line_with_a_remedy_and_leaves_nothing(
    ppro: Command, workplace: Path, words: list[str], told: str
) -> None:
    (workplace / "folder/full").mkdir(parents=True)
    (workplace / "broken.toml").write_text("dataset = = 3")
    (workplace / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (workplace / "bare.toml").write_text('dataset = "csbm"')
    (workplace / "odd.toml").write_text(
        'dataset = "csbm"\nsplit = "random-60-20-20"\n[settings]\nepsilom = 0.5\n'
    )
    before = everything(workplace)
    assert told in ppro("train", *words, *TINY).error
    assert everything(workplace) == before


@pytest.mark.parametrize(
    "words", [["csbm", "--runs", "0"], ["csbm", "--seed", "-1"], ["csbm", "--nope"]]
)
def test_wrong_usage_ends_with_two(ppro: Command, workplace: Path, words: list[str]) -> None:
    ended = ppro("train", *words)
    assert ended.status == 2
    assert "Usage: ppro train" in ended.err
    assert everything(workplace) == set()


def test_folders_without_permission(ppro: Command, workplace: Path) -> None:
    locked = workplace / "locked"
    locked.mkdir(mode=0o500)
    if os.access(locked, os.W_OK):
        pytest.skip("permissions do not bind this user")
    assert "Permission denied" in ppro("train", "csbm", "--out", "locked/run", *TINY).error
    locked.chmod(0)
    assert "Permission denied" in ppro("train", "csbm", "--out", "locked", *TINY).error
    assert "not a readable folder" in ppro("train", "cora", "--data-root", "locked").error
    assert "Permission denied" in ppro("predict", "locked").error
    locked.chmod(0o700)


class Hostile:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, ("executed",)


@pytest.mark.parametrize("hash_checked", [True, False])
def test_a_hostile_raw_file_is_refused_and_not_executed(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch, hash_checked: bool
) -> None:
    if not hash_checked:
        monkeypatch.setattr("ppro.data.storage.check_content", lambda path, expected: None)
    for file in DATASETS["cora"].sources[0].files:
        path = workplace / "data" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(Hostile(), protocol=2))
    before = everything(workplace)
    error = ppro("train", "cora", "--data-root", "data", "--offline").error
    assert str(Path("data")) in error
    assert ("sha256" in error) == hash_checked
    assert everything(workplace) == before


def test_files_that_are_nowhere_leave_nothing_behind(ppro: Command, workplace: Path) -> None:
    ended = ppro("train", "texas", "--offline")
    assert ended.status == 2
    assert ended.err.startswith("error: texas: no source has its files\n")
    assert "put these files in place by hand" in ended.err
    assert everything(workplace) == set()


def test_an_unexpected_error_is_one_line_too(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("first line\nsecond line")

    monkeypatch.setattr(fitting, "fit", broken)
    ended = ppro("train", "csbm")
    assert ended.status == 1
    assert ended.err.splitlines()[-1].startswith(
        "error: unexpected ZeroDivisionError: first line second line; run again as 'ppro --debug"
    )
    assert everything(workplace) == set()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PermissionError(13, "Permission denied", "x/y"), "x/y: Permission denied; make it access"),
        (MemoryError(), "train fewer --runs at a time"),
    ],
)
def test_errors_of_the_machine_have_a_remedy(
    ppro: Command, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise error

    monkeypatch.setattr("ppro.runs.source.load_graph", broken)
    assert told in ppro("train", "csbm").error


def test_ctrl_c_before_the_first_epoch(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting, "fit", interrupted)
    ended = ppro("train", "csbm")
    assert ended.status == 130
    assert ended.err.splitlines()[-1] == "interrupted: nothing was saved"
    assert everything(workplace) == set()


def test_a_folder_taken_during_training_does_not_cost_the_result(
    ppro: Command, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = fitting.fit

    def fit(*args: Any, **kwargs: Any) -> Any:
        (workplace / "here/full").mkdir(parents=True)
        return trained(*args, **kwargs)

    monkeypatch.setattr(fitting, "fit", fit)
    ended = ppro("train", "csbm", "--out", "here", *TINY)
    assert json.loads(ended.out)["out"] == "here-2"
    assert (workplace / "here-2/settings.toml").is_file()


def test_runs_are_numbered(ppro: Command, workplace: Path) -> None:
    for _ in range(2):
        assert ppro("train", "csbm", *TINY).status == 0
    assert sorted(os.listdir(workplace / "runs")) == ["csbm-l2b", "csbm-l2b-2"]


def test_the_current_folder_can_hold_the_run(ppro: Command, workplace: Path) -> None:
    assert ppro("train", "csbm", "--out", ".", *TINY).status == 0
    assert len(everything(workplace)) == 6
    assert "already exists" in ppro("train", "csbm", "--out", ".", *TINY).error


def test_a_recipe_file_and_changes_reach_the_run_folder(ppro: Command, workplace: Path) -> None:
    path = workplace / "my recipe.toml"
    path.write_text(
        'dataset = "csbm"\nsplit = "random-60-20-20"\nnote = "mine"\n'
        '[settings]\nstrategy = "l2u"\nhidden = 8\nseed = 3\n'
        '[paper]\naccuracy = 50.0\ntable = "Table 9"\n'
    )
    ended = ppro("train", "csbm", "--recipe", path, "--set", "alpha=0.2", "--out", "run", *QUICK)
    assert ended.status == 0
    assert ended.err.splitlines()[-1] == "mine"
    assert "50.0 % (Table 9); ours" in ended.out
    config = tomllib.loads((workplace / "run/settings.toml").read_text(encoding="utf-8"))
    assert config["paper"]["accuracy"] == 50.0
    settings = Settings.read(config["settings"]).flat()
    wanted = {"strategy": "l2u", "hidden": 8, "seed": 3, "alpha": 0.2, "epochs": 5}
    assert {key: settings[key] for key in wanted} == wanted
    assert config["settings"].keys() == Settings().model_dump(exclude_none=True).keys()


def test_the_split_follows_the_seed_that_set_gives(ppro: Command) -> None:
    a = ppro("train", "csbm", *TINY, "--seed", "7", "--out", "a")
    b = ppro("train", "csbm", *TINY, "--set", "seed=7", "--out", "b")
    assert json.loads(a.out)["per_run"] == json.loads(b.out)["per_run"]
    assert Path("a/nodes.csv").read_bytes() == Path("b/nodes.csv").read_bytes()


@pytest.mark.parametrize("strategy", ["l2b", "l2u", "none"])
def test_the_strategy_through_set_is_the_strategy(strategy: str) -> None:
    for dataset in ("cora", "texas", "digits"):
        by_option = chosen(dataset, strategy=strategy)
        assert chosen(dataset, f"strategy={strategy}") == by_option
        assert by_option.settings.strategy == strategy


def test_the_initial_bias_follows_the_strategy() -> None:
    assert chosen("digits").settings.controllers.propagation_bias == -2.0
    assert chosen("digits", strategy="l2u").settings.controllers.propagation_bias == 4.0
    assert shipped_recipe("wisconsin-l2b").settings.controllers.propagation_bias == 0.0
    assert chosen("digits", recipe="wisconsin-l2b").settings.controllers.propagation_bias == 0.0
    other = chosen("digits", "strategy=l2u", recipe="wisconsin-l2b")
    assert other.settings.controllers.propagation_bias == 4.0
    given = chosen("digits", "strategy=l2u", "propagation_bias=1.5", recipe="wisconsin-l2b")
    assert given.settings.controllers.propagation_bias == 1.5


def test_the_papers_number_belongs_to_dataset_split_and_strategy() -> None:
    paper = chosen("texas").paper
    assert paper is not None
    assert paper.accuracy == 85.67
    assert chosen("texas", "hidden=16", seed=4, recipe="texas-l2b").paper == paper
    assert chosen("texas", split="random-60-20-20").paper == paper
    assert chosen("texas", split="geom-gcn-48-32-20").paper is None
    assert chosen("texas", strategy="l2u", recipe="texas-l2b").paper is None
    assert chosen("wisconsin", recipe="texas-l2b").paper is None
    assert chosen("cornell").paper is None


def test_a_foreign_recipe_lends_settings_only() -> None:
    recipe = chosen("digits", recipe="cornell-legacy-l2b")
    assert recipe.dataset == "digits"
    assert recipe.split == "random-60-20-20"
    assert recipe.settings == shipped_recipe("cornell-legacy-l2b").settings
    assert recipe.note == ""
    assert recipe.found is None
    assert chosen("digits", recipe="cora-l2b").split == "random-60-20-20"


def test_how_settings_were_found_is_told_of_those_settings_alone() -> None:
    shipped = shipped_recipe("cora-l2b")
    assert shipped.found is not None
    assert chosen("cora").found == shipped.found
    assert chosen("cora", "dropout=0.35").found is None
    assert chosen("digits", recipe="cora-l2b").found is None


def test_equal_values_do_not_disagree() -> None:
    assert chosen("cora", "strategy=l2u", strategy="l2u").settings.strategy == "l2u"
    with pytest.raises(SettingsError, match="--strategy l2b and --set strategy=l2u disagree"):
        chosen("cora", "strategy=l2u", strategy="l2b")


@pytest.mark.data
@pytest.mark.parametrize("recipe", [None, "texas-l2b"])
@pytest.mark.parametrize("dataset", ["cornell", "cornell-legacy"])
def test_cornell_never_goes_without_its_warning(
    ppro: Command, real_data: str, dataset: str, recipe: str | None
) -> None:
    words = ("--recipe", recipe) if recipe else ()
    ended = ppro("train", dataset, *words, *TINY, "--data-root", real_data)
    assert ended.status == 0
    told = " ".join(ended.err.split())
    assert "eatures and labels" in told
    assert "Texas's" in told
    assert "Texas's" in " ".join(json.loads(ended.out)["notes"])
    assert told.count("Texas's") == 1


@pytest.mark.data
def test_fixed_splits_of_real_data(ppro: Command, real_data: str) -> None:
    words = ("train", "texas", *TINY, "--data-root", real_data)
    facts = json.loads(ppro(*words, "--split", "geom-gcn-48-32-20").out)
    assert facts["split"] == "geom-gcn-48-32-20"
    assert facts["paper"] is None
    assert json.loads(ppro(*words).out)["paper"] == 85.67


def test_histogram_leaves_out_what_no_node_chose() -> None:
    assert histogram([0, 0.5, 0, 0, 0.4995, 0.0005, 0]).splitlines() == [
        f"    1   50.0 %  {'█' * 40}",
        "  ...",
        f"    4   50.0 %  {'█' * 40}",
        "    5    0.1 %  ▏",
    ]


def test_the_device_is_found() -> None:
    assert find_device("cpu").type == "cpu"
    assert find_device("auto").type in ("cpu", "cuda")


def test_settings_without_effect_are_told_of_any_graph(ppro: Command, workplace: Path) -> None:
    ended = ppro("train", "csbm", *TINY, "--set", "kappa=3")
    assert "without effect under teaching=paper, only under compare: kappa" in ended.err
    assert "without effect" not in ppro("train", "csbm", *TINY, "--out", "other").err
