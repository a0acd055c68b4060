"""The bare backbone without a step."""

from __future__ import annotations

import pytest
import torch

from ppro.data import load_graph, make_splits
from ppro.errors import SettingsError
from ppro.settings.settings import Settings
from ppro.training.fit import fit


@pytest.mark.parametrize("form", ["hidden", "class"])
def test_appnp_without_a_step_is_an_mlp(form: str) -> None:
    graph = load_graph("planted", options={"nodes": 120, "classes": 3})
    splits = make_splits(graph, "planted", "random-60-20-20", 2, 0)
    shared = {"feature_norm": "none", "hidden": 8, "epochs": 15}
    bare = [
        Settings(strategy="none", max_steps=0, form=form, seed=seed, **shared) for seed in (0, 1)
    ]
    mlp = [Settings(model="mlp", seed=seed, **shared) for seed in (0, 1)]
    ours, theirs = (fit(graph, splits, settings) for settings in (bare, mlp))
    assert torch.allclose(ours.nodes.probabilities, theirs.nodes.probabilities, atol=1e-4)
    assert not ours.nodes.steps.any()


@pytest.mark.parametrize("changes", [{"strategy": "l2b"}, {"model": "gcn"}])
def test_nothing_else_can_do_without_a_step(changes: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="max_steps: 0 is for the bare backbone alone"):
        Settings(strategy="none").replace(max_steps=0, **changes)
