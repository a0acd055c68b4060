from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from ppro.compute.layers import generators
from ppro.nn.controllers import Controllers
from ppro.parts.choices import WeightForm
from tests.support import tensor64

RUNS, NODES, WIDTH, UNITS = 2, 5, 3, 4
z, h0, h, aggregate, best = (
    tensor64(RUNS, NODES, width, seed=seed) for seed, width in enumerate((3, 3, 3, 3, 3))
)


def controllers(weight_form: WeightForm = "softplus") -> Controllers:
    made = Controllers(generators([0, 1]), WIDTH, UNITS, [0.5, -1.0], weight_form).double()
    for index, p in enumerate(made.parameters()):
        p.data.copy_(tensor64(*p.shape, seed=100 + index))
    return made.requires_grad_(False)


def hidden(c: Controllers, r: int, terms: Sequence[tuple[Tensor, Tensor]]) -> list[float]:
    """ReLU(Σ input · weights + b), unit by unit."""
    out = []
    for unit in range(UNITS):
        total = float(c.bias[r, unit])
        for value, matrix in terms:
            total += sum(float(value[j]) * float(matrix[r, j, unit]) for j in range(value.shape[0]))
        out.append(max(0.0, total))
    return out


def head(values: list[float], weights: Tensor, bias: Tensor) -> float:
    return sum(v * float(weights[j, 0]) for j, v in enumerate(values)) + float(bias)


@pytest.mark.parametrize("with_best", [False, True], ids=["eq7", "eq8"])
@pytest.mark.parametrize("with_z", [True, False])
def test_probability_is_a_two_layer_network(with_best: bool, with_z: bool) -> None:
    c = controllers()
    shared = c.shared(h0, z if with_z else None)
    found = c.probability(shared, h, aggregate, best if with_best else None)
    assert found.shape == (RUNS, NODES)
    for r in range(RUNS):
        for i in range(NODES):
            terms = [(h0[r, i], c.initial), (h[r, i], c.current), (aggregate[r, i], c.aggregate)]
            terms += [(z[r, i], c.priority)] * with_z + [(best[r, i], c.best)] * with_best
            logit = head(hidden(c, r, terms), c.propagation_head[r], c.propagation_bias[r])
            assert float(found[r, i]) == pytest.approx(1 / (1 + math.exp(-logit)), abs=1e-12)


@pytest.mark.parametrize("block", [1, 2, 5, 7, 10, 100])
@pytest.mark.parametrize("with_z", [True, False])
def test_steps_looked_at_together_have_the_probabilities_of_each(
    with_z: bool, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The aggregate of a linear step is (h - α h0) / (1 - α)."""
    monkeypatch.setattr("ppro.nn.controllers.BLOCK_ROWS", block)
    c, alpha, steps = controllers(), 0.2, tensor64(RUNS, 4, NODES, WIDTH, seed=30)
    shared = c.shared(h0, z if with_z else None)
    found = c.probabilities(*c.ahead(shared, h0, alpha), steps)
    assert found.shape == (RUNS, 4, NODES)
    for k, h_k in enumerate(steps.unbind(1)):
        expected = c.probability(shared, h_k, (h_k - alpha * h0) / (1 - alpha))
        torch.testing.assert_close(found[:, k], expected, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("weight_form", ["softplus", "tanh"])
@pytest.mark.parametrize("with_step", [True, False])
def test_weight_is_equation_11(weight_form: WeightForm, with_step: bool) -> None:
    c = controllers(weight_form)
    depth = tensor64(RUNS, NODES, seed=20).sigmoid()
    found = c.weight(c.shared(h0, z), best, depth if with_step else None)
    assert found.shape == (RUNS, NODES)
    for r in range(RUNS):
        for i in range(NODES):
            terms = [(z[r, i], c.priority), (h0[r, i], c.initial), (best[r, i], c.current)]
            terms += [(depth[r, i : i + 1], c.step)] * with_step
            score = head(hidden(c, r, terms), c.weight_head[r], c.weight_bias[r])
            softplus = math.log(1 + math.exp(score) * (math.e - 1))
            expected = softplus if weight_form == "softplus" else 1 + math.tanh(score)
            assert float(found[r, i]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weight_form", ["softplus", "tanh"])
def test_weights_are_positive_and_start_at_1(weight_form: WeightForm) -> None:
    c = controllers(weight_form)
    assert bool((c.weight(c.shared(h0, z), best, None) >= 0).all())
    c.weight_head.data.zero_()
    c.weight_bias.data.zero_()
    found = c.weight(c.shared(h0, z), best, None)
    torch.testing.assert_close(found, torch.ones_like(found))


def test_the_propagation_bias_decides_where_nodes_start() -> None:
    c = Controllers(generators([3, 4]), WIDTH, UNITS, [-50.0, 50.0], "softplus").double()
    c.requires_grad_(False)
    p = c.probability(c.shared(h0, z), h, aggregate)
    assert float(p[0].max()) < 1e-6
    assert float(p[1].min()) > 1 - 1e-6


def test_the_step_and_the_change_are_two_more_inputs_where_they_are_wanted() -> None:
    plain, seeing = (
        controllers(),
        Controllers(generators([0, 1]), WIDTH, UNITS, [0.5, -1.0], "softplus", progress=True)
        .double()
        .requires_grad_(False),
    )
    progress = tensor64(RUNS, NODES, 2, seed=30)
    shared = plain.shared(h0, z)
    without = plain.probability(shared, h, aggregate)
    assert torch.equal(plain.probability(shared, h, aggregate, progress=progress), without)
    seeing.load_state_dict({**plain.state_dict(), "progress": tensor64(RUNS, 2, UNITS, seed=31)})
    assert torch.equal(seeing.probability(shared, h, aggregate), without)
    assert seeing.progress is not None
    found = seeing.probability(shared, h, aggregate, progress=progress)
    # As if the inputs had come in through the shared part.
    moved = shared + progress @ seeing.progress
    torch.testing.assert_close(found, plain.probability(moved, h, aggregate))
    assert not torch.allclose(found, without)


def test_initial_weights_fill_the_range_that_the_number_of_inputs_gives() -> None:
    units = 900
    c = Controllers(generators([0]), WIDTH, units, [0.0], "softplus", progress=True)
    # Four embeddings, three measures and the step.
    first, head = 1 / math.sqrt(4 * WIDTH + 3 + 1), 1 / math.sqrt(units)
    bounds = {
        **dict.fromkeys(("priority", "initial", "current", "aggregate", "best", "step"), first),
        **dict.fromkeys(("propagation_head", "weight_head"), head),
        **{"bias": first, "progress": 1.0},
    }
    for name, bound in bounds.items():
        largest = float(c.get_parameter(name).detach().abs().max())
        assert 0.98 * bound < largest <= bound, name
    assert float(c.weight_bias.detach().abs().max()) == 0
