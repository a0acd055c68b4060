"""A metric of one's own gives one number, whatever kind of number it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from ppro import PPro, SettingsError, load_graph
from ppro.parts import METRICS
from ppro.training.metrics import Metric


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> Any:
    def fit(value: Any) -> PPro:
        class Mine(Metric):
            title = "mine"

            def measure(self, probabilities: Any, labels: Any) -> float:
                return value  # type: ignore[no-any-return]

        Mine.name = "mine"
        monkeypatch.setitem(METRICS._parts, "mine", Mine)
        graph = load_graph("csbm", options={"nodes": 40, "features": 4})
        return PPro(metric="mine", epochs=2, hidden=4, max_steps=2, device="cpu").fit(graph)

    return fit


@pytest.mark.parametrize("value", [0.25, np.float32(0.25), torch.tensor(0.25), np.array(0.25)])
def test_a_number_of_any_kind(fitted: Any, value: Any) -> None:
    assert fitted(value).validation_score_ == 0.25


@pytest.mark.parametrize("value", [None, "good", np.array([0.1, 0.2]), torch.ones(2)])
def test_what_is_no_number(fitted: Any, value: Any) -> None:
    with pytest.raises(SettingsError, match=r"metric .mine.: measure gives .*; give one number"):
        fitted(value)
