from __future__ import annotations

from dataclasses import replace

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.compute.feature_blocks import BlockedFeatures
from ppro.compute.features import Features, normalised
from ppro.compute.noise import Noise
from ppro.parts.choices import FeatureNorm
from tests.support import build_ppro, noise_of, small_settings, tensor64

NODES, COLUMNS = 23, 6
NOISE = noise_of([3, 1], [0.25, 0.5], 7)
NODE_NOISE = replace(NOISE, node_rates=torch.tensor([0.3, 0.6]))
sizes = st.integers(1, NODES + 2)


def blocked(x: Tensor, size: int, norm: FeatureNorm = "none") -> BlockedFeatures:
    return BlockedFeatures(lambda rows: x[rows], (NODES, COLUMNS), norm=norm, size=size)


@settings(deadline=None, max_examples=25)
@given(sizes, st.sampled_from([None, NOISE, NODE_NOISE]), st.sampled_from(["none", "row", "unit"]))
def test_linear_is_that_of_features_in_memory(
    size: int, noise: Noise | None, norm: FeatureNorm
) -> None:
    x, weight = tensor64(NODES, COLUMNS), tensor64(2, COLUMNS, 4, seed=1).requires_grad_()
    whole = Features(normalised(x, norm))
    found, expected = blocked(x, size, norm).linear(weight, noise), whole.linear(weight, noise)
    torch.testing.assert_close(found, expected)
    back = tensor64(2, NODES, 4, seed=2)
    torch.testing.assert_close(
        torch.autograd.grad((found * back).sum(), weight),
        torch.autograd.grad((expected * back).sum(), weight),
    )


@settings(deadline=None, max_examples=25)
@given(sizes, st.sampled_from([None, NOISE]), st.sampled_from(["class", "hidden", "features"]))
def test_the_embedding_of_appnp_is_that_of_features_in_memory(
    size: int, noise: Noise | None, form: str
) -> None:
    x = tensor64(NODES, COLUMNS)
    chosen = [small_settings(form=form, seed=seed) for seed in (0, 1)]
    backbone = build_ppro(COLUMNS, 3, chosen).double().backbone
    # What comes after the propagation is left out: the output layer, or all but W1.
    learnt = list(backbone.parameters())[: {"class": 4, "hidden": 2, "features": 1}[form]]
    found, expected = (
        backbone.embed(features, noise) for features in (blocked(x, size), Features(x))
    )
    torch.testing.assert_close(found, expected)
    back = tensor64(*expected.shape, seed=2)
    torch.testing.assert_close(
        torch.autograd.grad((found * back).sum(), learnt),
        torch.autograd.grad((expected * back).sum(), learnt),
    )


def test_no_layer_of_all_nodes_is_stored() -> None:
    """What autograd keeps for the backward pass does not grow with the nodes."""
    kept: list[int] = []

    def keep(tensor: Tensor) -> Tensor:
        kept.append(tensor.numel())
        return tensor

    backbone = build_ppro(COLUMNS, 3, [small_settings(form="class")]).double().backbone
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        backbone.embed(blocked(tensor64(NODES, COLUMNS), 4), noise_of([1], 0.5, 0))
    assert max(kept) == max(p.numel() for p in backbone.parameters())


def test_the_dense_form_is_the_matrix() -> None:
    x = tensor64(NODES, COLUMNS)
    assert torch.equal(blocked(x, 5).dense, x)
