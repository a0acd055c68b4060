"""Planted depths: who meets, what is kept of either type, and how it is told."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ppro.cli import main
from ppro.data import deep_nodes
from ppro.data.names import PER_CLASS
from ppro.paper import experiment as experiments
from ppro.paper import planted, planted_tables
from ppro.paper.experiment import Plan
from ppro.paper.planted import POINTS, Point, entrants_of, fixed, rivals, strategy
from ppro.paper.pool import missing, run_missing
from ppro.paper.store import Store
from ppro.search.batches import Done, train_all
from tests.paper.support import keep, reached

SMALL = tuple(
    replace(
        point,
        arena=replace(point.arena, options={**point.arena.options, "nodes": 100, "classes": 2}),
    )
    for point in POINTS
)


def test_every_method_has_the_same_settings_of_the_backbone() -> None:
    for point in POINTS:
        for entrant in entrants_of(point):
            pairs = [(s.training.dropout, s.training.lr) for s in entrant.offered]
            assert set(pairs) == {(d, lr) for d in (0.2, 0.5) for lr in (0.01, 0.03)}
            others = len(pairs) // 4
            assert others == (1 if entrant in fixed(point.form) else 2)
            assert {s.inputs.feature_norm for s in entrant.offered} == {"none"}


def test_all_runs_of_a_shape_are_one_batch() -> None:
    shared = planted._BACKBONES
    assert all(set(one) <= fixed("class")[0].offered[0].per_run for one in shared)


def test_the_rivals_of_both_forms_are_run_once(tmp_path: Path) -> None:
    works = missing(planted.experiments(Plan(tmp_path), POINTS[:2]), Store(tmp_path))
    assert len(works) == 2 * (5 + 4) + len(rivals())


def test_the_steps_of_either_type_are_kept(tmp_path: Path) -> None:
    plan = Plan(tmp_path, runs=1, configurations=0, changes={"epochs": 6}, threads=1)
    point = SMALL[1]
    steps: list[torch.Tensor] = []

    def watched(*given: Any, **named: Any) -> list[Done]:
        made = train_all(*given, **named)
        steps.extend(done.steps for done in made)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "train_all", watched)
        wanted = f"planted/usual/{strategy('class', 'l2u', 'compare').key}"
        works = [w for w in planted.experiments(plan, [point]) if w.place == wanted]
        run_missing(lambda: works, plan, 1, lambda line: None)
    record = plan.store.one(wanted)
    assert record is not None
    deep = deep_nodes(planted.GRAPH_SEED, point.arena.options)
    for kind, nodes in (("deep", deep), ("shallow", ~deep)):
        means = [float(s.numpy()[nodes].mean()) for s in steps]
        assert record[kind]["mean_step"] == pytest.approx(means, abs=1e-4)
        shares = np.array(record[kind]["step_shares"])
        assert shares.sum() == pytest.approx(1, abs=1e-3)
        assert (shares * np.arange(9)).sum() == pytest.approx(np.mean(means), abs=1e-2)


def test_a_tiny_version_runs_from_end_to_end(tmp_path: Path) -> None:
    plan = Plan(tmp_path, runs=1, configurations=0, changes={"epochs": 3}, threads=1)
    points = (SMALL[2],)
    assert "Not measured yet: run `ppro reproduce planted`" in planted_tables.markdown(
        plan.store, points
    )
    todo = planted.experiments(plan, points)
    run_missing(lambda: todo, plan, 1, lambda line: None)
    assert missing(todo, plan.store) == []
    text = planted_tables.markdown(plan.store, points)
    for entrant in entrants_of(points[0]):
        assert f"\n| {entrant.title} | " in text


def test_one_method_on_one_split_by_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--quick", "--only", PER_CLASS, "--only", "gprgnn", "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["ppro", "reproduce", "planted", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert Store(tmp_path).places("planted/few-labels") == ["planted/few-labels/gprgnn"]
    assert "Not measured yet" in capsys.readouterr().out


def put(store: Store, point: Point, key: str, test: list[float], validation: float) -> None:
    types = {
        kind: {"mean_step": [step, step], "step_shares": []}
        for kind, step in (("deep", 5.0), ("shallow", 1.5))
    }
    facts = {"strategy": "l2b", "max_steps": 8, "model": "ppro"}
    if "fixed" in key:
        facts |= {"strategy": "none", "max_steps": int(key.rpartition("-")[2])}
    result = {**reached(test, validation), **types, "settings": facts}
    keep(store, f"{point.arena.place}/{key}", result)


def test_aims_are_met_or_missed_and_misses_are_shown(tmp_path: Path) -> None:
    store, point = Store(tmp_path), POINTS[0]
    put(store, point, "hidden-fixed-2", [90.0, 92.0], 93.0)
    put(store, point, "hidden-fixed-4", [93.0, 95.0], 92.0)
    put(store, point, "hidden-l2b", [91.0, 93.2], 94.0)
    put(store, point, "hidden-l2u", [93.0, 95.0], 94.0)
    put(store, point, "hidden-l2b-paper", [85.0, 86.0], 88.0)
    text = planted_tables.markdown(store, [point])
    start = "| the usual graph, hidden form"
    aim = "+1.5: {}, 3 steps apart: met |"
    assert (
        f"{start} | L2B | 91.0 (2) | +1.10 ± 0.10 | better | 5.0 | 1.5 | " + aim.format("missed")
        in text
    )
    assert (
        f"{start} | L2U | 91.0 (2) | +3.00 ± 0.00 | better | 5.0 | 1.5 | " + aim.format("met")
        in text
    )
    assert f"{start} | L2B, the paper's | 91.0 (2) | -5.50 ± 0.50 | worse | 5.0 | 1.5 | – |" in text
    assert "| fixed 2 | **91.0** |" in text
    assert "| fixed 4 | 94.0 |" in text
    assert "| L2U | 94.0 (+3.0 ± 0.0) |" in text
    assert "| DAGNN | – |" in text


def test_a_summary_counts_where_the_strategies_are_better(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert planted_tables.conclusion(store) == ""
    for point, ours in ((POINTS[1], [96.0, 95.0]), (POINTS[3], [93.0, 96.0])):
        put(store, point, "class-fixed-4", [93.0, 92.0], 93.0)
        put(store, point, "class-l2b", ours, 94.0)
    assert planted_tables.conclusion(store) == (
        "L2B is better than the best fixed depth in 1 and worse in 0 of 2 cases, by +2.5 points "
        "on average."
    )
