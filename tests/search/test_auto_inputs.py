from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.compute.features import normalised
from ppro.graph.core import Graph
from ppro.search.auto_inputs import input_settings
from ppro.settings.settings import Settings


def graph_of(x: Tensor) -> Graph:
    edges = torch.tensor([[0, 1], [1, 2]])
    labels = torch.arange(x.shape[0]) % 2
    return Graph.build("made", edges, x, labels)


def seen(x: Tensor) -> Tensor:
    """What a network sees of some features."""
    settings = Settings(**input_settings(graph_of(x)))
    return normalised(x, settings.inputs.form).to_dense()


def words(counts: bool = False) -> Tensor:
    rng = torch.Generator().manual_seed(1)
    x = (torch.rand(60, 100, generator=rng) < 0.15).float()
    return x * torch.randint(1, 5, x.shape, generator=rng) if counts else x


def measured() -> Tensor:
    rng = torch.Generator().manual_seed(2)
    scale = torch.tensor([0.001, 1.0, 1000.0])
    return torch.randn(60, 3, generator=rng) * scale + scale


CASES = {"words": words(), "counts": words(counts=True), "real": measured(), "few": words()[:, :9]}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("factor", "shift"), [(1000.0, 0.0), (0.001, 0.0), (1.0, 5.0), (2.0, -3.0)]
)
def test_units_and_shifts_leave_no_trace(name: str, factor: float, shift: float) -> None:
    x = CASES[name]
    assert torch.allclose(seen(x), seen(factor * x + shift), atol=2e-3, rtol=1e-3)
    sparse = seen(x.to_sparse_csr())
    assert torch.allclose(seen(x), sparse, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_entries_are_about_one_in_size(name: str) -> None:
    found = seen(CASES[name])
    assert 0.8 < float(found[found != 0].square().mean().sqrt()) < 1.2


def test_measurements_of_different_units_count_alike() -> None:
    found = seen(measured())
    assert torch.allclose(found.mean(0), torch.zeros(3), atol=1e-4)
    assert torch.allclose(found.std(0, correction=0), torch.ones(3), atol=1e-3)


def test_words_among_measurements_keep_their_zeros() -> None:
    x = torch.cat([words()[:, :20], measured()], dim=1)
    found = seen(x)
    assert torch.equal(found[:, :20], x[:, :20])


def test_settings_of_words_are_short() -> None:
    for x in (words(), words(counts=True), words() + 5):
        found: Any = input_settings(graph_of(x))
        assert found["feature_norm"] == "unit"
        assert len(found.get("feature_shift", (0.0,))) == 1
        assert "feature_spread" not in found


def test_features_that_never_differ_do_no_harm() -> None:
    for x in (torch.zeros(60, 4), torch.full((60, 4), 7.0)):
        assert torch.equal(seen(x), torch.zeros(60, 4))
