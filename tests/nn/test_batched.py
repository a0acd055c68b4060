from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.compute.features import Features
from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.nn import losses
from ppro.nn.backbones import Backbone
from ppro.nn.backbones.appnp import APPNP
from ppro.nn.batched import PProNetwork
from ppro.nn.network import Outcome
from ppro.settings.settings import Settings
from tests.support import Reference, World, model64, noise_of, small_settings, tensor64

ROWS = [[0, 3, 4, 5, 7, 8, 10], [1, 2, 6, 9]]
LAMBDA1, LAMBDA2 = torch.tensor([0.5, 2.0]).double(), torch.tensor([1.0, 0.3]).double()

Change = dict[str, Any]
STRATEGIES: list[Change] = [{"strategy": s} for s in ("l2b", "l2u", "none")]
ABLATIONS: list[Change] = [
    {f"use_{part}": False} for part in ("priority", "step", "weighting", "propagation")
]
# Embeddings that are not yet activated spread the steps under another seed.
FEATURES: Change = {"form": "features", "seed": 326}
VARIANTS: list[Change] = [
    {},
    {"form": "class"},
    {"concat": True},
    FEATURES,
    {**FEATURES, "concat": True},
    {**FEATURES, "controller_inputs": "predictions"},
    {"alpha": 0.0},
    {"alpha": 0.9},
    {"controller_inputs": "predictions", "concat": True},
    {"weight_form": "tanh"},
    {"priority_scale": "mean"},
    {"priority_scale": "mean", "weight_form": "tanh"},
    *ABLATIONS,
]
LEARNED: list[Change] = [{"strategy": s, **change} for s in ("l2b", "l2u") for change in VARIANTS]
PROGRAMS: list[Change] = [
    *LEARNED,
    {"strategy": "none"},
    {"strategy": "none", "form": "class"},
    {"strategy": "none", "alpha": 0.0, "concat": True},
    {"strategy": "none", **FEATURES},
    {"strategy": "none", **FEATURES, "alpha": 0.0, "concat": True},
]
plain_edges = noise_of([5, 9], [0.5, 0.25], 3)
NOISES = {
    "eval": None,
    "dropout": plain_edges,
    "edge-dropout": replace(plain_edges, edge_rates=torch.tensor([0.25, 0.5])),
}


def runs_of(seed: int = 14, **changes: Any) -> list[Settings]:
    values = [
        {"epsilon": 0.5 - r / 4, "lambda1": float(LAMBDA1[r]), "lambda2": float(LAMBDA2[r])}
        for r in range(2)
    ]
    return [small_settings(**changes, **values[r], seed=seed + r) for r in range(2)]


def make(seed: int = 14, **changes: Any) -> PProNetwork:
    """Two runs; seed and scale are such that the steps are spread."""
    model = model64(runs_of(seed, **changes))
    if model.controllers is not None:
        model.controllers.current.data *= 3
        model.controllers.aggregate.data *= 3
    return model


def close(found: Tensor, expected: Tensor) -> None:
    a, b = found.detach().double(), expected.detach().double()
    torch.testing.assert_close(a, b, atol=1e-9, rtol=1e-9)


def steps_of(outcome: Outcome) -> set[int]:
    return {int(outcome.steps[r, at]) for r in range(2) for at in range(len(ROWS[r]))}


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("changes", PROGRAMS, ids=str)
def test_forward_is_the_algorithm_node_by_node(changes: Change, noise: Noise | None) -> None:
    world, model = World.random(0), make(**changes)
    outcome = model(world.inputs, world.rows(ROWS), noise)
    for run, nodes in enumerate(ROWS):
        reference = Reference(model, run, world)
        reference.noise = noise
        reference.propagate()
        for at, i in enumerate(nodes):
            step = reference.step(i)
            assert int(outcome.steps[run, at]) == step
            close(outcome.embedding[run, at], reference.h[step][i])
            close(outcome.logits[run, at], reference.classify(i, reference.h[step][i]))
            close(outcome.weights[run, at], reference.weight(i, step))


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
@pytest.mark.parametrize("changes", [{}, FEATURES], ids=str)
def test_the_steps_of_these_tests_are_spread(changes: Change, strategy: str, seed: int) -> None:
    world = World.random(seed)
    found = steps_of(make(strategy=strategy, **changes)(world.inputs, world.rows(ROWS)))
    assert len(found) >= 3


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("changes", PROGRAMS, ids=str)
def test_the_backbone_has_the_gradient_of_the_unrolled_algorithm(
    changes: Change, noise: Noise | None
) -> None:
    world, model = World.random(1), make(**changes)
    rows = world.rows(ROWS)
    outcome = model(world.inputs, rows, noise)
    error = losses.prediction_error(outcome.logits, rows.labels)
    weights = model.scaled(outcome.weights, rows.valid)
    loss = losses.weighted_loss(error, weights, LAMBDA1, rows.valid)
    names = [name for name, _ in model.named_parameters()]
    found = torch.autograd.grad(loss.sum(), list(model.parameters()), allow_unused=True)
    for run, nodes in enumerate(ROWS):
        reference = Reference(model, run, world)
        reference.noise = noise
        expected = reference.backbone_loss(nodes, float(LAMBDA1[run]))
        close(loss[run], expected)
        wanted = torch.autograd.grad(expected, reference.group("backbone"))
        ours = [g for name, g in zip(names, found, strict=True) if name.startswith("backbone")]
        for gradient, value in zip(ours, wanted, strict=True):
            assert gradient is not None
            close(gradient[run], value)
    others = [g for name, g in zip(names, found, strict=True) if not name.startswith("backbone")]
    assert all(g is None for g in others)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("changes", LEARNED, ids=str)
def test_the_controllers_have_the_loss_and_gradient_of_the_paper(
    changes: Change, noise: Noise | None
) -> None:
    world, model = World.random(2), make(**changes)
    loss = model.controller_loss(world.inputs, world.rows(ROWS), noise)
    names = [name for name, _ in model.named_parameters()]
    found = torch.autograd.grad(loss.sum(), list(model.parameters()), allow_unused=True)
    gradients = dict(zip(names, found, strict=True))
    assert all(g is None for name, g in gradients.items() if name.startswith("backbone"))
    for run, nodes in enumerate(ROWS):
        reference = Reference(model, run, world)
        reference.noise = noise
        expected = reference.controller_loss(nodes, float(LAMBDA1[run]), float(LAMBDA2[run]))
        close(loss[run], expected)
        wanted = torch.autograd.grad(
            expected, reference.group("controllers"), materialize_grads=True, allow_unused=True
        )
        inside = [name for name in names if name.startswith("controllers")]
        for name, value in zip(inside, wanted, strict=True):
            gradient = gradients[name]
            close(torch.zeros_like(value) if gradient is None else gradient[run], value)


class Recorded(Backbone):
    """APPNP that does not say it is linear, so that autograd records every step."""

    def __init__(self, inner: APPNP) -> None:
        super().__init__()
        self.inner, self.width = inner, inner.width

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        return self.inner.embed(x, noise)

    def step(
        self, k: int, h: Tensor, h0: Tensor, adjacency: Adjacency, noise: Noise | None
    ) -> tuple[Tensor, Tensor]:
        return self.inner.step(k, h, h0, adjacency, noise)

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        return self.inner.classify(h, h0, rows, noise)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize(
    "changes", [*STRATEGIES, {"concat": True}, {**FEATURES, "concat": True}], ids=str
)
def test_a_backbone_that_autograd_records_gives_the_same(
    changes: Change, noise: Noise | None
) -> None:
    world, linear = World.random(3), make(**changes)
    assert isinstance(linear.backbone, APPNP)
    recorded = PProNetwork(Recorded(linear.backbone), linear.controllers, runs_of(**changes))
    rows, weights = world.rows(ROWS), tensor64(2, len(ROWS[0]), 3)
    results: list[list[Tensor]] = []
    for model in (linear, recorded):
        outcome = model(world.inputs, rows, noise)
        gradients = torch.autograd.grad(
            (outcome.logits * weights).sum(), list(linear.backbone.parameters())
        )
        results.append([outcome.steps.double(), outcome.logits, outcome.weights, *gradients])
        if model.controllers is not None:
            results[-1].append(model.controller_loss(world.inputs, rows, noise))
    for a, b in zip(*results, strict=True):
        close(a, b)


def other_z(world: World) -> World:
    changed = replace(world.inputs, influence=5 * tensor64(world.nodes, 2, seed=77))
    return replace(world, inputs=changed)


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_without_priority_the_steps_do_not_depend_on_z(strategy: str) -> None:
    world = World.random(4)
    rows = world.rows(ROWS)
    bare, full = make(strategy=strategy, use_priority=False), make(strategy=strategy)
    one, two = (bare(w.inputs, rows) for w in (world, other_z(world)))
    assert torch.equal(one.steps, two.steps)
    close(one.logits, two.logits)
    assert not torch.allclose(one.weights, two.weights)
    three, four = (full(w.inputs, rows) for w in (world, other_z(world)))
    assert not torch.equal(three.steps, four.steps)


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_without_the_step_the_weights_do_not_depend_on_it(strategy: str) -> None:
    world = World.random(4)
    rows = world.rows(ROWS)
    for use_step in (False, True):
        model = make(strategy=strategy, use_step=use_step)
        assert model.controllers is not None
        before = model(world.inputs, rows).weights
        model.controllers.step.data += 10
        after = model(world.inputs, rows).weights
        assert torch.equal(before, after) != use_step


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_without_the_weight_controller_every_weight_is_1(strategy: str) -> None:
    world = World.random(4)
    model = make(strategy=strategy, use_weighting=False)
    outcome = model(world.inputs, world.rows(ROWS))
    assert bool((outcome.weights == 1).all())
    close(outcome.logits, make(strategy=strategy)(world.inputs, world.rows(ROWS)).logits)


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_without_the_propagation_controller_every_node_takes_all_steps(strategy: str) -> None:
    world, rows = World.random(4), World.random(4).rows(ROWS)
    outcome = make(strategy=strategy, use_propagation=False)(world.inputs, rows)
    assert bool((outcome.steps == 4).all())
    close(outcome.logits, make(strategy="none")(world.inputs, rows).logits)
    assert not bool((outcome.weights == 1).any())


@pytest.mark.parametrize(("bias", "l2b", "l2u"), [(1e3, 1, 4), (-1e3, 4, 0)])
def test_a_controller_that_always_says_the_same(bias: float, l2b: int, l2u: int) -> None:
    world = World.random(5)
    for strategy, expected in (("l2b", l2b), ("l2u", l2u)):
        model = make(strategy=strategy)
        assert model.controllers is not None
        model.controllers.propagation_bias.data.fill_(bias)
        outcome = model(world.inputs, world.rows(ROWS))
        assert bool((outcome.steps == expected).all())


@pytest.mark.parametrize("changes", STRATEGIES, ids=str)
def test_a_run_gives_the_same_alone_and_in_a_batch(changes: Change) -> None:
    world, batch = World.random(6), make(**changes)
    together = batch(world.inputs, world.rows(ROWS), noise_of([5, 9], [0.5, 0.25], 3))
    for run, (seed, rate) in enumerate(((5, 0.5), (9, 0.25))):
        alone = model64([small_settings(**changes, seed=run, epsilon=0.5 - run / 4)])
        for p, q in zip(alone.parameters(), batch.parameters(), strict=True):
            p.data.copy_(q.data[run : run + 1])
        outcome = alone(world.inputs, world.rows([ROWS[run]]), noise_of([seed], rate, 3))
        m = len(ROWS[run])
        assert torch.equal(outcome.steps[0], together.steps[run, :m])
        close(outcome.logits[0], together.logits[run, :m])
        close(outcome.weights[0], together.weights[run, :m])


@settings(deadline=None, max_examples=20)
@given(
    st.integers(0, 10**4),
    st.permutations(range(11)),
    st.sampled_from(["l2b", "l2u", "none"]),
    st.sampled_from(["hidden", "class", "features"]),
)
def test_permuting_the_nodes_permutes_the_result(
    seed: int, order: list[int], strategy: str, form: str
) -> None:
    world = World.random(seed)
    permutation, place = torch.tensor(order), torch.argsort(torch.tensor(order))
    edges = place[world.edges]
    edges = edges[:, torch.argsort(edges[0] * 11 + edges[1])]
    turned = World.build(edges, world.x[permutation], world.labels[permutation])
    model = make(strategy=strategy, form=form)
    one, two = (model(w.inputs, w.all_rows(2)) for w in (world, turned))
    assert torch.equal(one.steps[:, permutation], two.steps)
    for field in ("logits", "embedding", "weights"):
        a, b = getattr(one, field)[:, permutation], getattr(two, field)
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-6)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**4), st.lists(st.integers(0, 10), min_size=1, max_size=6))
def test_the_answer_for_a_node_does_not_depend_on_which_others_are_asked(
    seed: int, nodes: list[int]
) -> None:
    world, model, noise = World.random(seed), make(strategy="l2u"), NOISES["edge-dropout"]
    some = model(world.inputs, world.rows([nodes, nodes]), noise)
    everyone = model(world.inputs, world.all_rows(2), noise)
    assert torch.equal(some.steps, everyone.steps[:, nodes])
    close(some.logits, everyone.logits[:, nodes])
    close(some.weights, everyone.weights[:, nodes])


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**4), st.integers(1, 6), st.booleans())
def test_steps_lie_in_their_range_on_any_graph(seed: int, depth: int, self_loops: bool) -> None:
    world = World.random(seed, self_loops=self_loops)
    for strategy, lowest in (("l2b", 1), ("l2u", 0)):
        model = make(seed=seed, strategy=strategy, max_steps=depth)
        steps = model(world.inputs, world.all_rows(2)).steps
        assert lowest <= int(steps.min())
        assert int(steps.max()) <= depth


@pytest.mark.parametrize("build", [lambda x: x, lambda x: x.to_sparse_csr()], ids=["dense", "csr"])
def test_sparse_and_dense_features_give_the_same(build: Callable[[Tensor], Tensor]) -> None:
    world, model, noise = World.random(7), make(), NOISES["dropout"]
    x = torch.where(world.x > 0, world.x, 0.0)
    inputs = replace(world.inputs, features=Features(build(x)))
    reference = Reference(model, 0, replace(world, x=x))
    reference.noise = noise
    reference.propagate()
    outcome = model(inputs, world.rows(ROWS), noise)
    for at, i in enumerate(ROWS[0]):
        close(outcome.embedding[0, at], reference.h[reference.step(i)][i])
