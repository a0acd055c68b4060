"""Whether the nodes of runs differ in step and priority, against plain counting."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.files import dump_json
from ppro.settings.settings import Settings
from ppro.training import diagnosis
from ppro.training.diagnosis import Diagnosis, PrioritySpread, StepSpread, cap_of

L2B = Settings(strategy="l2b", max_steps=4)


def at(step: int, share: float, nodes: int = 1000) -> Tensor:
    """Steps of which a share is one, the others two apart."""
    count = round(share * nodes)
    return torch.tensor([step] * count + [(step + 2) % 5] * (nodes - count))


def differing(nodes: int = 1000) -> Tensor:
    return torch.linspace(0.5, 1.5, nodes)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=60))
def test_shares_are_counted_over_all_nodes(steps: list[int]) -> None:
    found = StepSpread.of(torch.tensor(steps), 4)
    counted = Counter(steps)
    assert found.shares == pytest.approx([counted[k] / len(steps) for k in range(5)], abs=1e-5)
    assert counted[found.common] == max(counted.values())
    assert found.is_one == (max(counted.values()) / len(steps) > 0.95)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(0.01, 10), min_size=2, max_size=60))
def test_the_spread_of_priorities(values: list[float]) -> None:
    found = PrioritySpread.of(torch.tensor(values, dtype=torch.float64), None)
    exact = np.array(values)
    assert found.mean == pytest.approx(exact.mean(), rel=1e-4)
    assert found.deviation == pytest.approx(exact.std(), rel=1e-4, abs=1e-9)
    assert found.low == pytest.approx(float(np.quantile(exact, 0.05)), rel=1e-4)
    assert found.high == pytest.approx(float(np.quantile(exact, 0.95)), rel=1e-4)
    assert found.capped == 0


@pytest.mark.parametrize(
    ("values", "equal"),
    [
        (torch.ones(100), True),
        (torch.cat([torch.ones(97), torch.tensor([5.0, 6.0, 7.0])]), True),
        (torch.cat([torch.ones(94), torch.arange(2.0, 8.0)]), False),
        (1 + 1e-4 * torch.randn(100, generator=torch.Generator().manual_seed(0)), True),
        (1 + 1e-2 * torch.randn(100, generator=torch.Generator().manual_seed(0)), False),
        (torch.full((100,), math.nan), False),
    ],
)
def test_when_priorities_are_equal(values: Tensor, equal: bool) -> None:
    assert PrioritySpread.of(values, None).is_one == equal


def test_of_very_many_nodes_some_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    values = torch.linspace(0.5, 1.5, 10_001)
    whole = PrioritySpread.of(values, None)
    monkeypatch.setattr(diagnosis, "ENOUGH", 1000)
    some = PrioritySpread.of(values, None)
    assert some != whole
    assert some.mean == pytest.approx(whole.mean, rel=1e-2)
    assert some.high == pytest.approx(whole.high, rel=1e-2)


def test_priorities_at_their_cap() -> None:
    tanh = L2B.replace(weight_form="tanh")
    values = torch.cat([torch.full((970,), 1.9999), torch.linspace(0, 1, 30)])
    found = Diagnosis.of([at(1, 0.5)] * 2, [values] * 2, tanh)
    assert found.priorities is not None
    assert found.priorities[0].capped == pytest.approx(0.97)
    assert found.verdicts() == [
        "all priorities are equal: the same for every node in 2 of 2 runs, as large as they can be"
    ]
    assert cap_of(L2B) is None
    assert cap_of(tanh.replace(teaching="compare")) is None
    assert cap_of(tanh.replace(priority_scale="mean")) is None


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ((0.96, 0.97, 0.5), "more than 95 % are at one in 2 of 3 runs (step 3)"),
        ((0.96, 0.5, 0.5), None),
        ((0.96, 0.5), None),
        ((0.979,), "97.9 % are at step 3"),
        ((0.95,), None),
    ],
)
def test_most_runs_decide_about_steps(shares: tuple[float, ...], told: str | None) -> None:
    steps = [at(3, share) for share in shares]
    found = Diagnosis.of(steps, [differing()] * len(steps), L2B)
    wanted = [] if told is None else [f"nearly all nodes share a step: {told}"]
    assert found.verdicts() == wanted
    assert found.shares_a_step == (told is not None)
    assert not found.has_equal_priorities


def test_runs_that_collapse_at_different_steps() -> None:
    steps = [at(1, 1.0), at(1, 1.0), at(4, 0.99)]
    (line,) = Diagnosis.of(steps, [differing()] * 3, L2B).verdicts()
    assert line.endswith("in 3 of 3 runs (step 1 in 2 of them)")


def test_one_run_with_one_priority() -> None:
    (line,) = Diagnosis.of([at(1, 0.5)], [torch.full((9,), 1.25)], L2B).verdicts()
    assert line == "all priorities are equal: 1.25 for every node"


@pytest.mark.parametrize(
    "changes",
    [
        {"strategy": "none"},
        {"model": "gcn", "strategy": "none"},
        {"use_propagation": False, "use_weighting": False},
    ],
)
def test_what_no_controller_decides_cannot_collapse(changes: dict[str, object]) -> None:
    chosen = Settings.model_validate({"strategy": "l2b", "max_steps": 4, **changes})
    found = Diagnosis.of([at(4, 1.0)], [torch.ones(1000)], chosen)
    assert found == Diagnosis(None, None)
    assert found.verdicts() == []
    assert Diagnosis.read(found.facts()) == found


def test_a_diagnosis_survives_json() -> None:
    priorities = [differing(), torch.ones(1000), torch.full((1000,), math.nan)]
    found = Diagnosis.of([at(1, 0.97), at(2, 0.3), at(0, 0.8)], priorities, L2B)
    again = Diagnosis.read(json.loads(dump_json(found.facts())))
    assert again is not None
    assert again.steps == found.steps
    assert again.priorities is not None
    assert found.priorities is not None
    assert again.priorities[:2] == found.priorities[:2]
    assert math.isnan(again.priorities[2].mean)
    assert found.facts()["runs_at_one_step"] == 1
    assert again.verdicts() == found.verdicts()
    assert Diagnosis.read(None) is None
