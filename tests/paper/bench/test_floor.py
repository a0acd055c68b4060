from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.compute import feature_products, propagation
from ppro.compute.sparse import multiply
from ppro.paper.bench import Case
from ppro.paper.bench.cases import MODELS, bench_graph
from ppro.paper.bench.floor import Floor, Work, bandwidth
from ppro.paper.bench.measure import our_epoch

CPU = torch.device("cpu")


def floor_of(case: Case) -> Floor:
    return Floor(*bench_graph(case.graph), case.settings()[0], case.runs)


def test_work_adds_up() -> None:
    assert Work(1, 2) + Work(3, 4) * 2 == Work(7, 10)


@pytest.mark.parametrize("form", ["class", "hidden"])
@pytest.mark.parametrize("strategy", ["none", "l2b", "l2u"])
def test_operations_are_those_of_the_products_that_an_epoch_makes(
    form: Any, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the products of an epoch add up to, counted as they are made, is in the floor."""
    case = Case("digits", form, 3, strategy)
    floor, counted = floor_of(case), 0.0
    epoch = our_epoch(case, *bench_graph("digits"), CPU)

    def seen(matrix: Tensor, h: Tensor, **options: Any) -> Tensor:
        nonlocal counted
        counted += 2.0 * matrix.values().shape[0] * h.shape[2] * h.shape[0]
        return multiply(matrix, h, **options)

    monkeypatch.setattr(propagation, "multiply", seen)
    monkeypatch.setattr(feature_products, "multiply", seen)
    epoch()
    passes = 3 if strategy == "none" else 4
    per_step = 2.0 * floor.entries * floor.width
    assert counted == passes * case.max_steps * per_step
    assert counted < floor.epoch().operations


def test_controllers_and_the_second_pass_cost_more() -> None:
    none, l2b, l2u = (
        floor_of(Case("digits", "hidden", 3, name)).epoch() for name in ("none", "l2b", "l2u")
    )
    assert none.bytes < l2b.bytes == l2u.bytes
    assert none.operations < l2b.operations < l2u.operations


def test_runs_share_the_graph_but_not_their_embeddings() -> None:
    one, ten = (floor_of(Case("digits", "class", 3, "l2b", runs=runs)).epoch() for runs in (1, 10))
    assert one.bytes < ten.bytes < 10 * one.bytes
    assert ten.operations == 10 * one.operations


@pytest.mark.parametrize("model", list(MODELS))
def test_other_networks_have_a_floor_that_grows_with_the_depth(model: str) -> None:
    shallow, deep = (
        floor_of(Case("digits", None, depth, "none", model=model)).epoch() for depth in (2, 4)
    )
    assert shallow.bytes < deep.bytes
    assert shallow.operations < deep.operations


def test_the_bandwidth_is_that_of_memory() -> None:
    assert 1e8 < bandwidth(2**22, CPU, seconds=0.02) < 1e13
