"""Edges that are read one way: trained, saved, opened and applied to other graphs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import ppro
from ppro import Graph, PPro, SettingsError
from ppro.data.large import LargePlan, generate_large, read_large
from ppro.nn.comparing.network import ComparingNetwork
from ppro.runs.opening import open_run
from ppro.runs.receptive import describe_some
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model, prepare_inputs
from ppro.training.fingerprint import fingerprint
from ppro.training.fit import describe_nodes, fit
from tests.support import CPU, small_settings


def followers(nodes: int = 120, seed: int = 0) -> Graph:
    """A node is of the class that those who point to it show; those it points to show any."""
    rng = np.random.default_rng(seed)
    labels, shown = rng.integers(2, size=nodes), rng.integers(2, size=nodes)
    pairs = [
        (int(source), target)
        for target in range(nodes)
        for source in rng.choice(np.flatnonzero(shown == labels[target]), size=4)
    ]
    x = np.eye(2)[shown] + 0.1 * rng.standard_normal((nodes, 2))
    parts = torch.tensor(pairs).T, torch.from_numpy(x).float(), torch.from_numpy(labels)
    return Graph.build("followers", *parts, directed=True)


def quick(direction: str, **more: Any) -> PPro:
    given = {"direction": direction, "self_loops": False, "alpha": 0.0, **more}
    shape: dict[str, Any] = {"strategy": "none", "max_steps": 1, "hidden": 8, "epochs": 40}
    return PPro(**shape, lr=0.05, feature_norm="none", settings=given, random_state=0, device="cpu")


def test_the_right_direction_learns_what_the_other_cannot(tmp_path: Path) -> None:
    graph, new = followers(), followers(seed=1)
    right, wrong = quick("in").fit(graph), quick("out").fit(graph)
    assert right.score(new) > 0.95
    assert wrong.score(new) < 0.75
    right.save(tmp_path / "run")
    opened = ppro.load(tmp_path / "run")
    assert np.array_equal(opened.predict_proba(new), right.predict_proba(new))
    assert open_run(tmp_path / "run").config.settings.inputs.direction == "in"


def test_files_of_undirected_trainings_know_no_direction(tmp_path: Path) -> None:
    quick("both").fit(followers()).save(tmp_path / "run")
    saved = tomllib.loads((tmp_path / "run" / "settings.toml").read_text(encoding="utf-8"))
    assert "direction" not in saved["settings"]["inputs"]
    assert "direction" not in Settings().model_dump()["inputs"]
    assert Settings(direction="in").model_dump()["inputs"]["direction"] == "in"
    assert Settings.read(Settings(direction="in").model_dump()) == Settings(direction="in")


def test_a_checkpoint_is_of_the_direction_that_it_reads() -> None:
    graph = followers()
    other = Graph.build("g", graph.edge_index, graph.features, graph.labels)
    splits = ppro.data.make_splits(graph, "g", "random-60-20-20", 1, 0)

    def made(graph: Graph, direction: str) -> dict[str, str]:
        return fingerprint(graph, splits, [Settings(direction=direction)], None, None)

    assert made(graph, "both") == made(other, "both")
    assert "direction" not in made(graph, "both")["settings"]
    assert made(graph, "in")["graph"] != made(other, "in")["graph"]
    assert made(graph, "in")["settings"] != made(graph, "out")["settings"]


def test_what_has_no_direction_is_not_trained_one_way() -> None:
    graph = followers()
    other = Graph.build("mutual", graph.edge_index, graph.features, graph.labels)
    with pytest.raises(SettingsError, match="mutual: its edges have no direction"):
        quick("in").fit(other)
    # A trained network may meet a graph in which all edges happen to go both ways.
    assert quick("in").fit(graph).predict(other).shape == (120,)


def test_a_graph_on_disk_is_not_read_one_way(tmp_path: Path) -> None:
    generate_large(tmp_path, LargePlan(nodes=200, degree=4, features=4, classes=2))
    graph, _ = read_large(tmp_path)
    settings = Settings(direction="in")
    with pytest.raises(SettingsError, match="a graph on disk holds every edge both ways"):
        prepare_inputs(graph, settings, CPU)
    splits = ppro.data.make_splits(graph, "g", "random-60-20-20", 1, 0)
    with pytest.raises(SettingsError, match="a graph on disk holds every edge both ways"):
        fit(graph, splits, [settings])


@pytest.mark.parametrize("more", [{}, {"strategy": "l2b", "teaching": "compare"}])
@pytest.mark.parametrize("direction", ["in", "out"])
def test_some_nodes_are_predicted_as_all_are(direction: str, more: dict[str, Any]) -> None:
    path = torch.stack([torch.arange(99), torch.arange(1, 100)])
    x = torch.rand(100, 6, generator=torch.Generator().manual_seed(0))
    graph = Graph.build("path", path, x, torch.arange(100) % 2, directed=True)
    settings = small_settings(direction=direction, max_steps=3, **more)
    model, inputs = build_model(6, 2, [settings], CPU), prepare_inputs(graph, settings, CPU)
    assert isinstance(model, ComparingNetwork) == bool(more)
    wanted = torch.tensor([40, 7, 90])
    found, propagated = describe_some(model, inputs, wanted)
    whole = describe_nodes(model, inputs, graph, 1)
    assert propagated < 20
    torch.testing.assert_close(found.probabilities, whole.probabilities[:, wanted])
