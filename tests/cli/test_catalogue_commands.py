"""``ppro data`` and ``ppro recipes``, help and version."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppro.data import DATASETS
from ppro.parts.version import VERSION
from ppro.settings.recipe import parse_recipe
from ppro.settings.recipes import recipe_names, shipped_recipe
from tests.cli.conftest import Command, everything

LEGACY = "its features and labels are a copy of Texas's, on Cornell's edges"


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("words", [("data", "list"), ("recipes", "list")])
def test_lists_fit_a_terminal_and_warn_of_cornell(ppro: Command, words: tuple[str, ...]) -> None:
    ended = ppro(*words)
    assert ended.status == 0
    assert LEGACY in flat(ended.out)
    assert max(map(len, ended.out.splitlines())) <= 80
    assert not any(line.endswith(" ") for line in ended.out.splitlines())


def test_lists_are_complete(ppro: Command) -> None:
    assert set(DATASETS) <= {line.split(" ")[0] for line in ppro("data", "list").out.splitlines()}
    listed = {line.split(" ")[0] for line in ppro("recipes", "list").out.splitlines()}
    assert set(recipe_names()) <= listed


def test_describe_wraps_to_the_terminal(ppro: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = ppro("data", "describe", "csbm").out
    assert max(map(len, out.splitlines())) <= 60
    for fact in ("nodes 1,000", "homophily=0.8", "Contextual stochastic block models"):
        assert fact in flat(out)


@pytest.mark.data
@pytest.mark.parametrize("name", ["cornell", "cornell-legacy"])
def test_describe_says_what_is_wrong_with_cornell(ppro: Command, real_data: str, name: str) -> None:
    ended = ppro("data", "describe", name, "--data-root", real_data)
    assert ended.status == 0
    assert LEGACY in flat(ended.out)


@pytest.mark.data
def test_fetch_brings_the_splits_too(ppro: Command, real_data: str, workplace: Path) -> None:
    ended = ppro("data", "fetch", "texas", "digits", "--data-root", real_data)
    assert ended.out.splitlines() == [
        "texas: 183 nodes, 279 edges: ready",
        "digits: 1,797 nodes, 12,340 edges: ready",
    ]
    (source,) = DATASETS["texas"].sources
    for file in source.files:
        path = workplace / "half" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((Path(real_data) / file.path).read_bytes())
    ended = ppro("data", "fetch", "texas", "--data-root", "half", "--offline")
    assert ended.status == 2
    assert "texas: no source has its files" in ended.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("data", "describe", "texsa"), "unknown dataset 'texsa'; did you mean 'texas'?"),
        (("data", "fetch", "digits", "texsa"), "unknown dataset 'texsa'"),
        (("data", "describe", "cora", "--data-root", "gone"), "not a readable folder"),
        (("recipes", "show", "cora-l3b"), "no recipe 'cora-l3b'; did you mean 'cora-l2b'?"),
        (("recipes", "show", "gone.toml"), "gone.toml: cannot be read (No such file"),
    ],
)
def test_errors(ppro: Command, workplace: Path, words: tuple[str, ...], told: str) -> None:
    assert told in ppro(*words).error
    assert everything(workplace) == set()


def test_a_shown_recipe_is_a_recipe(ppro: Command) -> None:
    shown = ppro("recipes", "show", "pubmed-l2u").out
    assert parse_recipe(shown, "shown") == shipped_recipe("pubmed-l2u")


@pytest.mark.parametrize(
    "words", [("--help",), ("train", "--help"), ("data", "--help"), ("predict", "--help")]
)
def test_help_is_there(ppro: Command, words: tuple[str, ...]) -> None:
    ended = ppro(*words)
    assert ended.status == 0
    assert "Usage: ppro" in ended.out


def test_version(ppro: Command) -> None:
    assert ppro("--version").out == f"ppro {VERSION}\n"


def test_debug_shows_the_traceback(ppro: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from ppro.cli import main
    from ppro.errors import DataError

    monkeypatch.setattr("sys.argv", ["ppro", "--debug", "data", "describe", "texsa"])
    with pytest.raises(DataError):
        main()
