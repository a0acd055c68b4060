from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ppro.data import load_graph, make_splits
from ppro.nn.network import Rows
from ppro.training.consistency import consistency_loss, ramp, sharpened, with_all_nodes
from ppro.training.fit import fit
from tests.support import World, model64, noise_of, small_settings, tensor64


def by_hand(logits: list[Tensor], run: int, temperature: float, weights: list[float]) -> float:
    """The loss of one run, node by node."""
    total, nodes = 0.0, logits[0].shape[1]
    for i in range(nodes):
        predictions = [forward[run, i].softmax(-1).tolist() for forward in logits]
        mean = [sum(column) / len(logits) for column in zip(*predictions, strict=True)]
        powered = [p ** (1 / temperature) for p in mean]
        target = [p / sum(powered) for p in powered]
        distances = [
            sum((p - q) ** 2 for p, q in zip(prediction, target, strict=True))
            for prediction in predictions
        ]
        total += weights[i] / (sum(weights) / nodes) * sum(distances) / len(logits)
    return total / nodes


@pytest.mark.parametrize("weighted", [False, True])
def test_against_a_loop(weighted: bool) -> None:
    logits = [tensor64(2, 5, 3, seed=s) for s in range(3)]
    temperature = torch.tensor([0.3, 1.0], dtype=torch.float64)
    weights = torch.rand(2, 5, dtype=torch.float64) + 0.5 if weighted else None
    found = consistency_loss(logits, temperature, weights)
    for run in range(2):
        own = weights[run].tolist() if weights is not None else [1.0] * 5
        expected = by_hand(logits, run, float(temperature[run]), own)
        assert float(found[run]) == pytest.approx(expected, rel=1e-10)


def test_what_all_agree_on_is_drawn_to_the_sharpened_target_only() -> None:
    sure = torch.tensor([[[50.0, -50.0]]])
    assert float(consistency_loss([sure, sure], torch.tensor([0.5]))) < 1e-12
    halves = sharpened(torch.tensor([[[0.5, 0.5]]]), torch.tensor([0.1]))
    assert halves.flatten().tolist() == [0.5, 0.5]
    tiny = sharpened(torch.tensor([[[1.0, 0.0]]]), torch.tensor([0.01]))
    assert bool(tiny.isfinite().all())


def test_the_target_has_no_gradient() -> None:
    logits = [tensor64(1, 4, 3, seed=s).requires_grad_() for s in range(2)]
    loss = consistency_loss(logits, torch.tensor([0.4], dtype=torch.float64))
    (grad,) = torch.autograd.grad(loss.sum(), logits[:1])
    p = [forward.detach().softmax(-1) for forward in logits]
    target = sharpened((p[0] + p[1]) / 2, torch.tensor([0.4], dtype=torch.float64))
    apart = 2 * (p[0] - target)
    expected = p[0] * (apart - (p[0] * apart).sum(-1, keepdim=True)) / (2 * 4)
    torch.testing.assert_close(grad, expected)


def test_ramp() -> None:
    values = [float(ramp(torch.tensor(epoch), 50)) for epoch in (0, 25, 50, 500)]
    assert values == [0.0, 0.5, 1.0, 1.0]
    assert float(ramp(torch.tensor(0), 0)) == 0.0


def test_rows_are_followed_by_all_nodes() -> None:
    rows = Rows(torch.tensor([[2, 0]]), torch.tensor([[1, 1]]), torch.tensor([[1.0, 0.0]]))
    more = with_all_nodes(rows, 3, full_depth=True)
    assert more.nodes.tolist() == [[2, 0, 0, 1, 2]]
    assert more.valid.tolist() == [[1, 0, 0, 0, 0]]
    assert more.free == 2
    assert with_all_nodes(rows, 3, full_depth=False).free is None


@pytest.mark.parametrize("form", ["hidden", "features"])
@pytest.mark.parametrize("inputs", ["embeddings", "predictions"])
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_full_rows_take_all_steps_and_leave_the_others_alone(
    strategy: str, inputs: str, form: str
) -> None:
    world = World.random(3)
    shape = {"form": form, "controller_inputs": inputs, "use_progress": True}
    model = model64([small_settings(propagation_bias=0.0, strategy=strategy, **shape)])
    rows = world.rows([[0, 3, 5, 7]])
    more = with_all_nodes(rows, world.nodes, full_depth=True)
    noise = noise_of([1], 0.3, 2)
    alone, joined = model(world.inputs, rows, noise), model(world.inputs, more, noise)
    torch.testing.assert_close(joined.logits[:, :4], alone.logits)
    assert torch.equal(joined.steps[:, :4], alone.steps)
    torch.testing.assert_close(joined.weights[:, :4], alone.weights)
    assert bool((joined.steps[:, 4:] == model.max_steps).all())
    full = model64([small_settings(strategy="none", form=form, use_progress=True)])
    for own, other in zip(full.backbone.parameters(), model.backbone.parameters(), strict=True):
        own.data.copy_(other.data)
    torch.testing.assert_close(
        joined.logits[:, 4:], full(world.inputs, world.all_rows(), noise).logits
    )


@pytest.mark.parametrize("on", ["full", "selected", "priority"])
def test_it_reaches_the_training_of_its_own_run_alone(on: str) -> None:
    graph = load_graph("csbm", options={"nodes": 120, "classes": 3, "features": 12})
    splits = make_splits(graph, "csbm", "random-60-20-20", 2, 0)
    runs = [
        small_settings(
            seed=seed,
            epochs=30,
            dropout=0.4,
            node_dropout=0.3,
            consistency=weight,
            consistency_on=on,
        )
        for seed, weight in ((0, 0.0), (0, 5.0))
    ]
    result = fit(graph, splits, runs, threads=1)
    assert bool(result.history.metrics.isfinite().all())
    assert not torch.equal(result.nodes.probabilities[0], result.nodes.probabilities[1])
    # A weight of zero beside another run's is the same training as one that never heard of it;
    # the number of forwards stays that of the program.
    again = [runs[0], runs[0].replace(consistency=3.0)]
    other = fit(graph, splits, again, threads=1)
    assert torch.equal(result.nodes.probabilities[0], other.nodes.probabilities[0])


@pytest.mark.parametrize("teaching", ["paper", "compare"])
def test_labels_that_fade_leave_a_run_beside_them_as_it_is(teaching: str) -> None:
    graph = load_graph("csbm", options={"nodes": 120, "classes": 3, "features": 12})
    splits = make_splits(graph, "csbm", "random-60-20-20", 2, 0)
    shared = {"epochs": 20, "dropout": 0.4, "consistency": 0.5, "teaching": teaching}
    never = small_settings(seed=0, warm_up=3, settle=3, **shared)
    result = fit(graph, splits, [never, never.replace(fading=2.0)], threads=1)
    alone = fit(graph, splits, [never, never.replace(seed=5)], threads=1)
    assert torch.equal(result.nodes.probabilities[0], alone.nodes.probabilities[0])
    assert not torch.equal(result.nodes.probabilities[0], result.nodes.probabilities[1])
