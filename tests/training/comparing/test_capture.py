"""What a CUDA graph needs of an epoch: tensors that stay where they are, and no look at values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.nn.strategies import given
from ppro.training.comparing import ComparingTrainer
from tests.training.comparing.support import settings_of, small_graph, splits_of, trainer_of

KINDS: list[dict[str, Any]] = [
    {"judges": "folds"},
    {"judges": "train", "strategy": "l2u", "start": "held"},
    {"judges": "share", "judge_share": 0.3, "consistency": 0.5, "consistency_on": "selected"},
]


def trainer(**changes: Any) -> ComparingTrainer:
    graph = small_graph(60)
    return trainer_of(graph, splits_of(graph, 2), settings_of(2, **changes))


def places(of: ComparingTrainer) -> dict[str, int]:
    """Where everything lies that an epoch changes."""
    return {name: tensor.data_ptr() for name, tensor in of.state().items()}


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_an_epoch_changes_its_tensors_in_place(changes: dict[str, Any]) -> None:
    made = trainer(**changes)
    parameters = {id(p): p.data_ptr() for p in made.model.parameters()}
    before, epoch = places(made), made.program()
    for _ in range(14):
        epoch()
    assert places(made) == before
    assert {id(p): p.data_ptr() for p in made.model.parameters()} == parameters


@pytest.fixture
def no_looking(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A tensor whose value the host asks for would stall a device, and end a recording."""

    def looked(self: Tensor, *args: Any) -> Any:
        raise AssertionError("an epoch asks for a value")

    for name in ("__bool__", "__int__", "__float__", "item", "tolist", "nonzero"):
        monkeypatch.setattr(Tensor, name, looked)
    yield
    monkeypatch.undo()


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_an_epoch_asks_for_no_value(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(given, "may_ask", lambda values: False)
    made = trainer(**changes)
    # On a CPU the record looks whether any run is better, which it does not on a GPU.
    monkeypatch.setattr(made.record, "update", lambda *measured: None)
    request.getfixturevalue("no_looking")
    for _ in range(2):
        made.plain_epoch()
        made.judged_epoch()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_a_recorded_training_is_one_that_was_not(changes: dict[str, Any]) -> None:
    from ppro.training.fit import fit

    graph = small_graph(60)
    found = []
    for capturable in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            if not capturable:
                patch.setattr(ComparingTrainer, "_recorded", lambda self, work: work)
            chosen = settings_of(2, **changes)
            found.append(fit(graph, splits_of(graph, 2), chosen, device=torch.device("cuda")))
    torch.testing.assert_close(
        *(f.history.metrics for f in found), equal_nan=True, atol=1e-3, rtol=1e-3
    )
