from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ppro.compute.noise import Noise, matrix_ids
from ppro.data import load_graph, make_splits
from ppro.graph.core import Graph
from ppro.nn.rivals.l2p import L2P, gumbel
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model
from ppro.training.fit import fit
from tests.support import CPU, World, dense_normalised, noise_of, small_settings, tensor64

DEPTH = 3
NAMES = ("l2q", "l2s")
LAMBDA = torch.ones(2, dtype=torch.float64)


def made(name: str, **changes: object) -> L2P:
    runs = [small_settings(model=name, max_steps=DEPTH, seed=s, **changes) for s in (0, 1)]
    model = build_model(6, 3, runs, CPU).double()
    assert isinstance(model, L2P)
    for index, p in enumerate(model.parameters()):
        p.data.copy_(tensor64(*p.shape, seed=index) / 2)
    return model


def choice_of(name: str, h: list[Tensor], p: dict[str, Tensor]) -> list[float]:
    """q of one node, by hand."""
    if name == "l2s":
        return [float(q) for q in torch.stack([v @ p["gate"][:, 0] for v in h]).softmax(0)]
    left, q = 1.0, []
    for v in h[:-1]:
        score = v @ p["gate"][:, 0] + h[0] @ p["gate_initial"][:, 0] + p["gate_bias"]
        t = float(torch.sigmoid(score))
        q.append(left * t)
        left *= 1 - t
    return [*q, left]


@pytest.mark.parametrize("run", [0, 1])
@pytest.mark.parametrize("concat", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("name", NAMES)
def test_prediction_node_by_node(name: str, alpha: float, concat: bool, run: int) -> None:
    world, model = World.random(5, nodes=9), made(name, alpha=alpha, concat=concat)
    p = {key: value[run].detach() for key, value in model.named_parameters()}
    h = [torch.relu(world.x @ p["weight1"] + p["bias1"])]
    for _ in range(DEPTH):
        h.append((1 - alpha) * dense_normalised(world.edges, 9) @ h[-1] + alpha * h[0])
    outcome = model(world.inputs, world.all_rows(2))
    for i in range(9):
        q = choice_of(name, [state[i] for state in h], p)
        mixed = torch.stack([w * state[i] for w, state in zip(q, h, strict=True)]).sum(0)
        seen = torch.cat([mixed, h[0][i]]) if concat else mixed
        expected = seen @ p["output.weight"] + p["output.bias"]
        torch.testing.assert_close(outcome.logits[run, i].detach(), expected)
        torch.testing.assert_close(outcome.embedding[run, i].detach(), mixed)
        assert int(outcome.steps[run, i]) == q.index(max(q))


@pytest.mark.parametrize("name", NAMES)
def test_choice_is_a_distribution(name: str) -> None:
    world, model = World.random(6), made(name)
    rows = world.all_rows(2)
    for noise in (None, noise_of([4, 9], 0.4, 3)):
        states = model.states(world.inputs, rows, noise)
        q = model.log_choice(states).exp()
        assert q.shape == (2, world.nodes, DEPTH + 1)
        assert bool((q >= 0).all())
        torch.testing.assert_close(q.sum(-1), torch.ones_like(q.sum(-1)))


def test_phi_learns_from_validation_labels() -> None:
    assert L2P.judged_on == "val"
    graph = load_graph("csbm", options={"nodes": 60, "classes": 3, "features": 8, "degree": 4})
    splits = make_splits(graph, "csbm", "random-60-20-20", 1, 0)
    labels = torch.where(splits.val[0], (graph.labels + 1) % 3, graph.labels)
    other = Graph.build("other", graph.edge_index, graph.features, labels)
    settings = Settings(model="l2s", hidden=6, max_steps=2, epochs=2, patience=2)
    first, second = (fit(g, splits, [settings], threads=1).model for g in (graph, other))
    assert not torch.equal(first.get_parameter("gate"), second.get_parameter("gate"))


@pytest.mark.parametrize("name", NAMES)
def test_controller_loss_reaches_phi_alone(name: str) -> None:
    world, model = World.random(7), made(name, concat=True, entropy=0.3)
    noise = noise_of([4, 9], 0.4, 3)
    loss = model.controller_loss(world.inputs, world.all_rows(2), noise)
    assert loss.shape == (2,)
    for grad in torch.autograd.grad(loss.sum(), model.phi(), retain_graph=True):
        assert bool((grad.flatten(1) != 0).any(1).all())
    for grad in torch.autograd.grad(loss.sum(), model.theta(), allow_unused=True):
        assert grad is None
    outcome = model(world.inputs, world.all_rows(2), noise)
    error = -outcome.logits.log_softmax(-1).gather(-1, world.all_rows(2).labels.unsqueeze(-1))
    log_q = model.log_choice(model.states(world.inputs, world.all_rows(2), noise))
    entropy = torch.special.entr(log_q.exp()).sum(-1)
    torch.testing.assert_close(loss, (error.squeeze(-1) - 0.3 * entropy).mean(1))


def test_gumbel_noise_has_its_distribution() -> None:
    noise = noise_of([4, 9], 0.0, 3)
    drawn = gumbel(matrix_ids(torch.arange(2000), 20).unsqueeze(0), noise)
    assert drawn.shape == (2, 2000, 20)
    assert bool(drawn.isfinite().all())
    assert abs(float(drawn.mean()) - 0.5772) < 0.02
    assert abs(float(drawn.var()) - torch.pi**2 / 6) < 0.05


def test_gumbel_noise_is_of_the_run_and_of_the_node() -> None:
    noise = noise_of([4, 9], 0.0, 3)
    nodes = torch.tensor([[3, 5, 8]])
    both = gumbel(matrix_ids(nodes, 4), noise)
    assert torch.equal(both[1:], gumbel(matrix_ids(nodes, 4), noise.run(1)))
    assert torch.equal(both[:, 1:], gumbel(matrix_ids(nodes[:, 1:], 4), noise))
    later = Noise(noise.seeds, noise.rates, noise.moment + 1)
    assert not torch.equal(both, gumbel(matrix_ids(nodes, 4), later))
