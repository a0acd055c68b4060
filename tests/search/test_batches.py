from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from ppro.data import Splits, load_graph, make_splits
from ppro.graph.core import Graph
from ppro.search import batches
from ppro.search.batches import Done, Job, most_together, train_all
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit

CPU = torch.device("cpu")
TINY = Settings(hidden=4, controller_units=4, max_steps=2, epochs=3)


@pytest.fixture(scope="module")
def world() -> tuple[Graph, Splits]:
    graph = load_graph("csbm", options={"nodes": 60, "classes": 2, "features": 8, "degree": 4})
    return graph, make_splits(graph, "csbm", "random-60-20-20", 3, 0)


def jobs() -> list[Job]:
    """Two programs, in turn; rows of the splits in another order than the jobs."""
    deeper = {"max_steps": 3}
    changes: list[dict[str, Any]] = [{}, deeper, {"seed": 1}, {**deeper, "seed": 1}]
    rows = (2, 0, 1, 2)
    return [Job(TINY.replace(**c), row) for c, row in zip(changes, rows, strict=True)]


def test_the_order_of_the_jobs_is_kept_and_programs_go_together(
    world: tuple[Graph, Splits], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []

    def counted(graph: Graph, splits: Splits, settings: Sequence[Settings], **rest: Any) -> Fit:
        sizes.append(len(settings))
        return fit(graph, splits, settings, **rest)

    monkeypatch.setattr(batches, "fit", counted)
    wanted = jobs()
    found = train_all(*world, wanted, CPU)
    assert sizes == [2, 2]
    assert [done.job for done in found] == wanted
    alone = [train_all(*world, [job], CPU)[0] for job in wanted]
    assert [done.val_accuracy for done in found] == [done.val_accuracy for done in alone]
    assert [done.test_accuracy for done in found] == [done.test_accuracy for done in alone]


def test_a_batch_is_as_large_as_makes_its_runs_cheaper(
    world: tuple[Graph, Splits], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = world[0]
    monkeypatch.setattr(batches, "available_cores", lambda: 2)
    job = Job(TINY.replace(hidden=64), 0)
    per_run = 64 * graph.num_nodes
    assert most_together(graph, job, CPU) == 2 * (batches.FULL["cpu"] // per_run)
    cuda = torch.device("cuda")
    assert most_together(graph, job, cuda) == batches.FULL["cuda"] // per_run
    monkeypatch.setitem(batches.FULL, "cpu", 1)
    assert most_together(graph, job, CPU) == 2 * batches.LEAST


def test_more_runs_than_fill_the_machine_go_in_even_parts(
    world: tuple[Graph, Splits], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [Job(TINY.replace(seed=seed), seed % 3) for seed in range(5)]
    expected, sizes = train_all(*world, wanted, CPU), []

    def counted(graph: Graph, splits: Splits, settings: Sequence[Settings], **rest: Any) -> Fit:
        sizes.append(len(settings))
        return fit(graph, splits, settings, **rest)

    monkeypatch.setattr(batches, "fit", counted)
    monkeypatch.setattr(batches, "most_together", lambda *args: 2)
    found = train_all(*world, wanted, CPU)
    assert sizes == [1, 2, 2]
    assert found == expected


def test_where_memory_is_short_runs_go_in_halves(
    world: tuple[Graph, Splits], monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(graph: Graph, splits: Splits, settings: Sequence[Settings], **rest: Any) -> Fit:
        if len(settings) > 1:
            raise torch.OutOfMemoryError("too much")
        return fit(graph, splits, settings, **rest)

    wanted = [Job(TINY.replace(seed=seed), seed) for seed in range(3)]
    expected = train_all(*world, wanted, CPU)
    monkeypatch.setattr(batches, "fit", short)
    assert train_all(*world, wanted, CPU) == expected


def test_a_single_run_that_is_too_large_says_so(
    world: tuple[Graph, Splits], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*args: Any, **rest: Any) -> Fit:
        raise torch.OutOfMemoryError("too much")

    monkeypatch.setattr(batches, "fit", never)
    with pytest.raises(torch.OutOfMemoryError):
        train_all(*world, [Job(TINY, 0)], CPU)


def test_half_a_training_is_no_result(
    world: tuple[Graph, Splits], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*args: Any, **rest: Any) -> Fit:
        whole = fit(*args, **rest)
        return replace(whole, history=replace(whole.history, interrupted=True))

    monkeypatch.setattr(batches, "fit", cut)
    with pytest.raises(KeyboardInterrupt):
        train_all(*world, [Job(TINY, 0)], CPU)


def test_what_a_run_reached_is_told(world: tuple[Graph, Splits]) -> None:
    done = train_all(*world, [Job(TINY, 1)], CPU)[0]
    assert isinstance(done, Done)
    assert done.epochs == 3
    assert 0 <= done.mean_step <= 2
    assert done.mean_step == pytest.approx(float(done.steps.float().mean()))
    assert sum(done.step_shares) == pytest.approx(1)
    assert done.priorities.shape == done.steps.shape == (60,)
    assert done.curve.shape == (3,)
    assert done.worth == done.val_score == done.val_accuracy


def test_another_metric_decides_where_settings_name_one(world: tuple[Graph, Splits]) -> None:
    done = train_all(*world, [Job(TINY.replace(metric="roc-auc"), 1)], CPU)[0]
    assert 0 <= done.val_score <= 100
    assert done.worth == done.val_score
    assert replace(done, val_score=float("nan")).worth == 0


def test_a_curve_begins_after_the_warm_up_and_goes_on_where_nobody_validated(
    world: tuple[Graph, Splits],
) -> None:
    (done,) = train_all(*world, [Job(TINY.replace(teaching="compare", warm_up=2), 0)], CPU)
    assert done.curve.isnan().tolist() == [True, True, False]
    nothing = torch.nan
    seen = torch.tensor([nothing, nothing, 0.5, nothing, nothing, 0.75, nothing])
    carried = batches._carried_on(seen)
    assert carried.isnan().tolist() == [True, True, *[False] * 5]
    assert carried[2:].tolist() == [0.5, 0.5, 0.5, 0.75, 0.75]
