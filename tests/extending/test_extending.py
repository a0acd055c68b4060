"""Parts of a user's own, in at most 40 lines each, are known by name everywhere."""

from __future__ import annotations

import json
import runpy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

import ppro as package
from ppro.parts import REGISTRIES, scripts
from tests.cli.conftest import Command

HERE = Path(__file__).parent
GRAPH = ("csbm", "--option", "nodes=120", "--option", "features=8")
TINY = {"epochs": 4, "hidden": 8, "controller_units": 4, "max_steps": 3}


@dataclass(frozen=True)
class Part:
    """A script, how a command names what it defines, and what pages then say."""

    script: str
    settings: dict[str, Any]
    told: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return HERE / f"{self.script}.py"

    def words(self) -> list[str]:
        pairs = {**TINY, **self.settings}
        return [word for key, v in pairs.items() for word in ("--set", f"{key}={json.dumps(v)}")]


PARTS = {
    "strategy": Part("strategy", {"strategy": "l2c"}, ("L2C (learn to climb)", "climb")),
    "measure": Part(
        "measure",
        {"measures": ["degree-gap", "degree", "size"]},
        ("degree gap", "size of h0"),
    ),
    "judges": Part("judges", {"judges": "referee", "teaching": "compare"}, ("referee",)),
    "metric": Part("metric", {"metric": "worst-recall"}, ("worst recall",)),
    "backbone": Part("backbone", {"backbone": "gated", "gate": 0.4}, ("gated",)),
}


@pytest.fixture(params=PARTS)
def part(request: pytest.FixtureRequest) -> Part:
    return PARTS[request.param]


@pytest.fixture(autouse=True)
def forget() -> Any:
    """Leave the registries as they were."""
    before = [dict(registry._parts) for registry in REGISTRIES]
    yield
    scripts._LOADED.clear()
    for registry, parts in zip(REGISTRIES, before, strict=True):
        registry._parts.clear()
        registry._parts.update(parts)


def test_a_part_takes_at_most_forty_lines(part: Part) -> None:
    assert len(part.path.read_text(encoding="utf-8").splitlines()) <= 40


def test_the_command_line_the_report_and_the_explanation(part: Part, ppro: Command) -> None:
    load = ("--load", part.path)
    ended = ppro(*load, "train", *GRAPH, "--runs", "2", *part.words(), "--out", "run", "--json")
    assert ended.status == 0, ended.err
    facts = json.loads(ended.out)
    assert facts["test_mean"] > 0
    page = ppro(*load, "report", "run", "--out", "page.html")
    assert page.status == 0, page.err
    html = Path("page.html").read_text(encoding="utf-8")
    story = ppro(*load, "explain", "run", "5", "--json")
    assert story.status == 0, story.err
    for words in part.told:
        assert words in html
    if part.script == "strategy":
        assert json.loads(story.out)["decision"] == "climb"
    if part.script == "measure":
        assert "degree gap" in [driver["name"] for driver in json.loads(story.out)["drivers"]]
    assert ppro(*load, "explain", "run", "5").status == 0


def test_a_run_tells_what_it_needs_where_the_script_is_not_loaded(
    part: Part, ppro: Command
) -> None:
    assert ppro("--load", part.path, "train", *GRAPH, *part.words(), "--out", "run").status == 0
    for registry in REGISTRIES:
        for name in [n for n in registry.names() if n in str(part.settings)]:
            if registry._addresses.get(name) is None:
                registry._parts.pop(name, None)
    ended = ppro("explain", "run", "5")
    assert ended.status == 2
    assert "--load" in ended.err


def test_tune_searches_it(part: Part, ppro: Command) -> None:
    pytest.importorskip("optuna")
    study = ("--trials", "2", "--seeds", "1", "--batch", "2", "--out", "best.toml")
    ended = ppro("--load", part.path, "tune", *GRAPH, *part.words(), *study)
    assert ended.status == 0, ended.err
    recipe = Path("best.toml").read_text(encoding="utf-8")
    name = next(iter(part.settings.values()))
    assert (name[0] if isinstance(name, list) else name) in recipe


def test_the_estimator_knows_it(part: Part) -> None:
    runpy.run_path(str(part.path), run_name=part.script)
    graph = package.load_graph("csbm", options={"nodes": 120, "features": 8})
    settings = {**TINY, **part.settings}
    model = package.PPro(settings=settings, random_state=0)
    model.fit(graph)
    assert model.predict(graph).shape == (120,)
    assert 0 <= model.score(graph) <= 1
    model.save("saved")
    again = package.load("saved")
    torch.testing.assert_close(
        torch.as_tensor(again.predict_proba(graph)), torch.as_tensor(model.predict_proba(graph))
    )
