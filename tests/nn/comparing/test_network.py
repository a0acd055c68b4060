"""PPro with controllers that compare, as a network."""

from __future__ import annotations

import pytest
import torch

from ppro.errors import SettingsError
from ppro.nn.comparing import network as networks
from ppro.nn.comparing.costs import at_step
from ppro.nn.comparing.network import ComparingNetwork, compares
from ppro.nn.comparing.sight import Sight
from ppro.nn.network import Rows
from ppro.paper.bench.counted import count
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model
from tests.nn.comparing.test_sight import network
from tests.support import CPU, World, small_settings, tensor64


def alone(strategy: str) -> tuple[ComparingNetwork, World]:
    """Two runs without judges whose controllers decide at random."""
    settings = [small_settings(teaching="compare", strategy=strategy, seed=s) for s in (0, 1)]
    made = build_model(6, 3, settings, CPU).double()
    assert isinstance(made, ComparingNetwork)
    for index, parameter in enumerate((made.controllers.head, made.controllers.weight_head)):
        parameter.data.copy_(tensor64(*parameter.shape, seed=index))
    return made, World.random(5, 20)


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_a_node_is_classified_at_its_step(strategy: str) -> None:
    made, world = alone(strategy)
    found = made(world.inputs, world.all_rows(2))
    assert len(set(found.steps.flatten().tolist())) > 1
    every = made.predictions(Sight.of_all(world.inputs, 2))
    nodes = world.all_rows(2).nodes
    scores = at_step(every.seen(nodes, made.own(nodes))[0], found.steps)
    torch.testing.assert_close(scores.softmax(-1), found.logits.softmax(-1))
    x = made.evidence(every, nodes, made.own(nodes))
    assert torch.equal(made.controllers.follow(made.strategy, x).steps, found.steps)
    torch.testing.assert_close(made.controllers.weights(at_step(x, found.steps)), found.weights)


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_some_rows_and_small_blocks_say_the_same(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, world = alone(strategy)
    whole = made(world.inputs, world.all_rows(2))
    monkeypatch.setattr(networks, "BLOCK_ROWS", 3)
    some = made(world.inputs, world.rows([[3, 7], [11, 2]]))
    for run, nodes in enumerate(([3, 7], [11, 2])):
        for name in ("logits", "embedding", "steps", "weights"):
            full = getattr(whole, name)[run, nodes]
            torch.testing.assert_close(getattr(some, name)[run], full)


@pytest.mark.parametrize(
    "given", [[[0, 1, 4], [2, 3, 3]], [[0, 1, 1], [2, 1, 2]], [[0, 0, 0], [0, 0, 0]]]
)
def test_a_step_has_the_gradient_of_its_own_depth(given: list[list[int]]) -> None:
    made, world = alone("l2b")
    steps = torch.tensor(given)
    rows = world.rows([[1, 2, 3], [4, 5, 6]])
    out = made.at_steps(world.inputs, rows, steps, None)
    p = dict(made.backbone.named_parameters())
    (found,) = torch.autograd.grad(out.logits.square().sum(), p["weight1"])
    weight = p["weight1"].detach().clone().requires_grad_()
    total = torch.zeros((), dtype=torch.float64)
    for run in range(2):
        h0 = torch.relu(world.x @ weight[run] + p["bias1"][run])
        depths = [h0]
        for _ in range(4):
            depths.append(0.75 * world.a_hat @ depths[-1] + 0.25 * h0)
        for row in range(3):
            h = depths[int(steps[run, row])][int(rows.nodes[run, row])]
            logits = h @ p["output.weight"][run] + p["output.bias"][run]
            total = total + logits.square().sum()
    torch.testing.assert_close(found, torch.autograd.grad(total, weight)[0])


@pytest.mark.parametrize(("given", "products"), [([0, 4, 1], 4), ([1, 2, 0], 2), ([0, 0, 0], 1)])
def test_nothing_propagates_further_than_the_deepest_step(given: list[int], products: int) -> None:
    made, world = alone("l2b")
    rows = world.rows([[1, 2, 3], [4, 5, 6]])
    steps = torch.tensor([given, given])

    def epoch() -> None:
        made.at_steps(world.inputs, rows, steps, None)

    assert count(epoch).steps == products


def test_judges_begin_as_the_run_and_leave_it_as_it_is() -> None:
    made, world = alone("l2b")
    before = [parameter.clone() for parameter in made.theta()]
    rows = world.all_rows(2)
    said = made(world.inputs, rows).logits
    made.add_judges(3)
    for parameter, own in zip(made.theta(), before, strict=True):
        assert torch.equal(parameter, own.repeat_interleave(4, 0))
    for parameter in made.theta():
        parameter.data.view(2, 4, -1)[:, 1:] += 1
    made.drop_judges()
    assert torch.equal(made(world.inputs, rows).logits, said)


def test_every_backbone_speaks_for_itself() -> None:
    made, world = network()
    rows = world.rows([[1, 2]] * 6)
    steps = torch.full((6, 2), 2)
    both = made.at_steps(world.inputs, rows, steps, None).logits
    for b in range(6):
        kept = torch.tensor([b])
        one = [parameter.data for parameter in made.theta()]
        for parameter in made.theta():
            parameter.data = parameter.data[kept]
        part = Rows(rows.nodes[:1], rows.labels[:1], rows.valid[:1])
        torch.testing.assert_close(
            made.at_steps(world.inputs, part, steps[:1], None).logits[0], both[b]
        )
        for parameter, full in zip(made.theta(), one, strict=True):
            parameter.data = full


def test_what_compares() -> None:
    assert compares(Settings(teaching="compare"))
    assert not compares(Settings(teaching="paper"))
    assert not compares(Settings(teaching="compare", strategy="none"))
    assert not compares(Settings(teaching="compare", model="gcn"))


def test_comparing_needs_steps_to_compare() -> None:
    settings = Settings(teaching="compare", use_propagation=False)
    with pytest.raises(SettingsError, match="no steps to compare"):
        build_model(4, 3, [settings], CPU)
