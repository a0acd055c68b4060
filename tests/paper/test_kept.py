"""What is kept of runs."""

from __future__ import annotations

import pytest
import torch

from ppro.paper.kept import kept_of, off_common
from ppro.search.batches import Done, Job
from ppro.settings.settings import Settings


def done(steps: list[int], priorities: list[float], test: float = 80.0) -> Done:
    shares = torch.bincount(torch.tensor(steps), minlength=3) / len(steps)
    return Done(
        Job(Settings(max_steps=2), 0),
        *(70.0, test, 70.0, test, sum(steps) / len(steps), 2, shares.tolist()),
        torch.tensor(steps),
        torch.tensor(priorities),
        torch.tensor([0.5, 0.7]),
    )


def test_steps_and_priorities_are_told_within_runs() -> None:
    runs = [done([0, 0, 0, 2], [1.0, 1.0, 1.0, 1.0]), done([1, 1, 2, 2], [0.5, 1.5, 0.5, 1.5])]
    found = kept_of(runs, tested=True, curves=False)
    # Over all runs no step has more than 3 of 8 nodes; within them one has most of the nodes.
    assert off_common(found) == 0.375
    assert found["diagnosis"]["priorities"]["deviation"] == [0.0, 0.5]
    assert found["step_shares"] == [0.375, 0.25, 0.375]
    assert found["mean_step"] == [0.5, 1.5]
    assert (found["test_mean"], found["test_std"]) == (80.0, 0.0)
    assert found["diagnosis"]["shares"] == [[0.75, 0.0, 0.25], [0.0, 0.5, 0.5]]
    assert found["diagnosis"]["priorities"]["deviation"] == [0.0, 0.5]
    assert found["diagnosis"]["runs_with_equal_priorities"] == 1


def test_what_is_not_asked_for_is_not_kept() -> None:
    found = kept_of([done([0, 1], [1.0, 2.0])], tested=False, curves=True)
    assert not any(key.startswith("test") for key in found)
    assert "diagnosis" not in found
    assert off_common(found) is None
    assert found["curves"] == [[50.0, pytest.approx(70.0)]]
