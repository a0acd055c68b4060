"""Nodes choose alike whether a strategy sees several steps at once or each by itself."""

from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.nn import controllers, looking_ahead
from ppro.nn.batched import PProNetwork
from ppro.nn.strategies import learn_to_break
from ppro.paper.bench.cases import bench_graph
from ppro.settings.settings import Settings
from ppro.training.assembly import prepare_inputs, rows_from_masks
from ppro.training.trainer import Trainer
from tests.support import World, build_ppro, model64, noise_of, small_settings

CPU = torch.device("cpu")
DEPTH = 13


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking_ahead, "MOST_AHEAD", 0)


def spread(strategy: str = "l2b", **changes: Any) -> PProNetwork:
    """Two runs whose rows stop at many different steps."""
    changes |= {"strategy": strategy, "max_steps": DEPTH}
    settings = [small_settings(**changes, seed=seed) for seed in (3, 4)]
    model = model64(settings)
    assert model.controllers is not None
    model.controllers.current.data *= 3
    model.controllers.aggregate.data *= 3
    return model


def told(model: PProNetwork, world: World, rows: list[list[int]]) -> list[Tensor]:
    """All that both passes of Algorithm 1 say, with their gradients."""
    noise, chosen = noise_of([5, 9], 0.25, 3), world.rows(rows)
    outcome = model(world.inputs, chosen, noise)
    loss = model.controller_loss(world.inputs, chosen, noise)
    total = outcome.logits.sum() + loss.sum()
    grads = torch.autograd.grad(total, list(model.parameters()), materialize_grads=True)
    return [outcome.steps, outcome.embedding, outcome.logits, outcome.weights, loss, *grads]


@pytest.mark.parametrize("bias", [-6.0, -2.0, 0.0, 2.0, 1e3])
@pytest.mark.parametrize(
    "changes", [{}, {"form": "class"}, {"concat": True, "use_priority": False}], ids=str
)
@pytest.mark.parametrize("kept", [2, 3, 100])
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_passes_are_the_same_in_float64(
    strategy: str,
    changes: dict[str, Any],
    bias: float,
    kept: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the number of steps that are kept; a bias of 1000 lets all rows stop at once."""
    world, model = World.random(2, nodes=30), spread(strategy, **changes)
    assert model.controllers is not None
    model.controllers.propagation_bias.data.fill_(bias)
    rows = [list(range(0, 30, 2)), list(range(9))]
    found_steps = 15 * 2 * model.backbone.width
    monkeypatch.setattr(looking_ahead, "MOST_AHEAD", kept * found_steps)
    monkeypatch.setattr(looking_ahead, "FEW", 0)
    found = told(model, world, rows)
    one_by_one(monkeypatch)
    for a, b in zip(found, told(model, world, rows), strict=True):
        torch.testing.assert_close(a, b, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("bias", [-6.0, -2.0, 0.0, 2.0, 1e3])
@pytest.mark.parametrize("form", ["class", "hidden"])
@pytest.mark.parametrize("kept", [3, 100])
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_what_a_gpu_does_is_the_same_too(
    strategy: str, form: str, bias: float, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the host looks at nothing in the middle of a pass, and runs share their products."""
    world, model = World.random(2, nodes=30), spread(strategy, form=form)
    assert model.controllers is not None
    model.controllers.propagation_bias.data.fill_(bias)
    rows = [list(range(0, 30, 2)), list(range(9))]
    one_by_one(monkeypatch)
    expected = told(model, world, rows)
    for module in (looking_ahead, learn_to_break, controllers):
        monkeypatch.setattr(module, "may_ask", lambda _: False)
    monkeypatch.setattr(looking_ahead, "MOST_ON_GPU", kept * 15 * 2 * model.backbone.width)
    for a, b in zip(told(model, world, rows), expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-10, rtol=1e-10)


def test_steps_after_the_last_row_has_stopped_are_hardly_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pass makes as many steps as the last one of its kind needed, and doubles them."""
    world, model, made = World.random(2, nodes=30), spread(), []
    found = model.controllers
    assert found is not None
    mix_into = world.inputs.adjacency.mix_into

    def counted(*args: Any) -> Tensor:
        made.append(1)
        return mix_into(*args)

    def steps_made(bias: float) -> int:
        found.propagation_bias.data.fill_(bias)
        made.clear()
        model(world.inputs, world.all_rows(2))
        return len(made)

    monkeypatch.setattr(world.inputs.adjacency, "mix_into", counted)
    soon, never = 1e3, -1e3
    wanted = [(soon, 1), (soon, 1), (never, DEPTH), (never, DEPTH), (soon, DEPTH), (soon, 1)]
    assert [steps_made(bias) for bias, _ in wanted] == [steps for _, steps in wanted]


@pytest.mark.parametrize("form", ["class", "hidden"])
@pytest.mark.parametrize("epsilon", [0.11, 1.0])
def test_a_training_in_float32_is_the_same_bit_by_bit(
    form: str, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Probabilities are summed in another order, but whether they exceed ε is all that is used."""
    graph, splits = bench_graph("digits")
    chosen = Settings.read(
        {"strategy": "l2b", "max_steps": 10, "form": form, "epsilon": epsilon, "teaching": "paper"}
    )
    inputs = prepare_inputs(graph, chosen, CPU)

    def trained() -> tuple[Tensor, list[Tensor]]:
        train, val = (rows_from_masks(m, graph.labels, CPU) for m in (splits.train, splits.val))
        model = build_ppro(graph.num_features, graph.num_classes, [chosen])
        trainer = Trainer(model, inputs, train, val, [chosen])
        for _ in range(5):
            trainer.epoch()
        return trainer.record.log[:5], [optimiser.flat for optimiser in trainer.optimisers]

    log, states = trained()
    one_by_one(monkeypatch)
    expected_log, expected = trained()
    assert torch.equal(log, expected_log)
    assert all(torch.equal(a, b) for a, b in zip(states, expected, strict=True))
    assert len(set(log[:, 4].flatten().tolist())) > 1 or epsilon == 1


def test_a_checkpoint_remembers_how_many_steps_were_needed() -> None:
    world, model = World.random(2, nodes=30), spread()
    told(model, world, [[0, 1, 2], [3, 4, 5]])
    assert model.controllers is not None
    assert set(model.controllers.steps_needed.values()) != {1}
    kept, fresh = looking_ahead.kept_steps(model), spread()
    looking_ahead.restore_steps(fresh, kept)
    assert fresh.controllers is not None
    known = model.controllers.steps_needed
    assert {kind: fresh.controllers.steps_needed[kind] for kind in known} == known
    assert looking_ahead.kept_steps(model.backbone) == {}
