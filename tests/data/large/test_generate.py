from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from ppro.data.large import LargePlan, generate, generate_large, read_large
from ppro.data.large.store import ARRAYS
from ppro.data.statistics import describe
from ppro.errors import DataError
from tests.data.large.conftest import PLAN


def generated(folder: Path, plan: LargePlan) -> Path:
    folder.mkdir()
    generate_large(folder, plan)
    return folder


@pytest.mark.parametrize("homophily", [0.1, 0.5, 0.9])
def test_sizes_and_homophily_are_those_of_the_plan(tmp_path: Path, homophily: float) -> None:
    plan = LargePlan(nodes=4000, degree=12, classes=4, homophily=homophily, features=3)
    graph, masks = read_large(generated(tmp_path / "graph", plan))
    facts = describe(graph)
    assert (facts["nodes"], facts["features"], facts["classes"]) == (4000, 3, 4)
    assert facts["edges"] == pytest.approx(24_000, rel=2e-3)
    assert facts["edge_homophily"] == pytest.approx(homophily, abs=0.03)
    assert max(facts["class_counts"].values()) < 1.2 * min(facts["class_counts"].values())
    assert masks is not None
    assert masks.train.mean() == pytest.approx(plan.train, abs=0.02)
    assert masks.val.mean() == pytest.approx(plan.val, abs=0.02)
    assert (masks.train ^ masks.val ^ masks.test).all()


def test_degrees_have_a_heavy_tail(tmp_path: Path) -> None:
    plan = LargePlan(nodes=20_000, degree=10, features=1)
    graph, _ = read_large(generated(tmp_path / "graph", plan))
    degree = graph.starts.diff().double()
    assert degree.max() > 20 * degree.mean()
    assert degree.median() < degree.mean()


def test_features_lie_around_the_centre_of_their_class(tmp_path: Path) -> None:
    plan = LargePlan(nodes=6000, degree=4, classes=3, features=8, signal=5.0)
    graph, _ = read_large(generated(tmp_path / "graph", plan))
    for c in range(3):
        mine = graph.features[graph.labels == c]
        assert float(mine.mean(0).norm()) == pytest.approx(5, abs=0.2)
        assert float(mine.std(0).mean()) == pytest.approx(1, abs=0.05)


def test_the_same_plan_gives_the_same_bytes_and_another_seed_others(
    folder: Path, tmp_path: Path
) -> None:
    again = generated(tmp_path / "again", PLAN)
    other = generated(tmp_path / "other", replace(PLAN, seed=5))
    for name in ARRAYS:
        assert (folder / name).read_bytes() == (again / name).read_bytes()
        assert (folder / name).read_bytes() != (other / name).read_bytes()


def test_rows_are_the_same_however_they_are_cut(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = generate.draw_edges(generate.Communities(600, 3, 4), 2400, 0.7, 4)
    whole = generate.Neighbours(keys, 600)
    expected = np.concatenate(list(whole.blocks()))
    monkeypatch.setattr(generate, "CHUNK", 100)
    cut = generate.Neighbours(keys, 600)
    assert np.array_equal(np.concatenate(list(cut.blocks())), expected)
    low, high = np.divmod(keys, 600)
    pairs = np.unique(np.concatenate([low * 600 + high, high * 600 + low]))
    assert np.array_equal(pairs % 600, expected)
    assert np.array_equal(np.diff(cut.starts), np.bincount(pairs // 600, minlength=600))


def test_features_do_not_pass_through_memory_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "BLOCK", 50)
    labels = torch.zeros(600, dtype=torch.int32).numpy()
    blocks = list(generate._features(PLAN, labels))
    assert max(block.size for block in blocks) <= 50
    assert sum(block.shape[0] for block in blocks) == 600


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": 3}, "nodes is 3"),
        ({"homophily": 1.5}, "homophily is 1.5"),
        ({"degree": 100.0}, "give more nodes"),
        ({"classes": 100}, "ten to each"),
        ({"train": 0.9, "val": 0.2}, "at most 1"),
        ({"val": 0.0}, "train and val"),
    ],
)
def test_what_cannot_be_generated_is_refused(
    tmp_path: Path, changes: dict[str, float], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        generate_large(tmp_path, replace(PLAN, **changes))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
