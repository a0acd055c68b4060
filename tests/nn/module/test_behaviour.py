"""PPro behaves as any PyTorch module does."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import ppro.nn
from tests.nn.module.support import BUILT_IN, FEATURES, backward, toy_graph, toy_model, train

every_backbone = pytest.mark.parametrize("backbone", BUILT_IN)
both_strategies = pytest.mark.parametrize("strategy", ["l2b", "l2u"])


@every_backbone
@both_strategies
def test_it_learns_in_a_loop_of_one_s_own(backbone: str, strategy: str) -> None:
    torch.manual_seed(0)
    model = toy_model(backbone, strategy, dropout=0.2)
    assert train(model, toy_graph()) > 0.8
    assert model.steps.shape == model.priorities.shape == (40,)
    assert int(model.steps.min()) >= 0
    assert int(model.steps.max()) <= 3
    assert bool((model.priorities > 0).all())


@every_backbone
def test_evaluation_drops_nothing_and_training_does(backbone: str) -> None:
    torch.manual_seed(0)
    x, edges, _ = toy_graph()
    model = toy_model(backbone, dropout=0.5)
    assert not torch.equal(model(x, edges), model(x, edges))
    model.eval()
    assert torch.equal(model(x, edges), model(x, edges))


def test_the_seed_of_pytorch_decides_weights_and_dropout() -> None:
    x, edges, _ = toy_graph()
    outcomes = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        outcomes.append(toy_model()(x, edges))
    assert torch.equal(outcomes[0], outcomes[1])
    assert not torch.equal(outcomes[0], outcomes[2])


@every_backbone
def test_a_state_goes_from_one_model_to_another(backbone: str, tmp_path: Path) -> None:
    x, edges, _ = toy_graph()
    first, second = toy_model(backbone).eval(), toy_model(backbone).eval()
    assert not torch.equal(first(x, edges), second(x, edges))
    torch.save(first.state_dict(), tmp_path / "state.pt")
    second.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert torch.equal(first(x, edges), second(x, edges))


@every_backbone
def test_a_copy_goes_its_own_way(backbone: str) -> None:
    graph = toy_graph()
    model = toy_model(backbone)
    backward(model.backbone_loss(model(*graph[:2]), graph[2]))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    train(copy.deepcopy(model), graph, epochs=2)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name


@every_backbone
@both_strategies
def test_double_and_half_precision(backbone: str, strategy: str) -> None:
    torch.manual_seed(0)
    x, edges, y = toy_graph()
    model = toy_model(backbone, strategy)
    for dtype in (torch.float64, torch.bfloat16):
        model.to(dtype).train()
        logits = model(x.to(dtype), edges)
        assert logits.dtype == model.priorities.dtype == dtype
        for loss in (
            model.backbone_loss(logits, y),
            model.controller_loss(x.to(dtype), edges, y),
        ):
            assert loss.dtype == dtype
            assert torch.isfinite(loss)
            backward(loss)


def test_bfloat16_says_about_the_same() -> None:
    torch.manual_seed(0)
    x, edges, _ = toy_graph()
    model = toy_model("gcnii", "none").eval()
    exact = model(x, edges)
    rough = model.bfloat16()(x.bfloat16(), edges)
    assert float((exact - rough).abs().max() / exact.abs().max()) < 0.05


@every_backbone
def test_autocast(backbone: str) -> None:
    x, edges, y = toy_graph()
    model = toy_model(backbone, "none" if backbone in ("gat", "gcn", "gcnii") else "l2b")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        backward(model.backbone_loss(model(x, edges), y))
        backward(model.controller_loss(x, edges, y))
    assert all(p.grad is not None for p in model.backbone_parameters())


def test_to_another_device_and_on_another_default_one() -> None:
    model = toy_model()
    model(*toy_graph()[:2])
    assert {p.device.type for p in model.to("meta").parameters()} == {"meta"}
    with torch.device("meta"):
        assert {p.device.type for p in toy_model().parameters()} == {"meta"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@every_backbone
def test_on_a_gpu(backbone: str) -> None:
    graph = toy_graph()
    model = toy_model(backbone).eval()
    expected = model(*graph[:2])
    model, graph = model.cuda(), tuple(part.cuda() for part in graph)  # type: ignore[assignment]
    torch.testing.assert_close(model(*graph[:2]).cpu(), expected, atol=1e-4, rtol=1e-4)
    train(model, graph, epochs=2)


@pytest.mark.parametrize(
    ("backbone", "strategy"), [*((name, "l2b") for name in BUILT_IN), ("appnp", "l2u")]
)
def test_one_program_for_the_compiler_in_evaluation(backbone: str, strategy: str) -> None:
    torch.compiler.reset()
    check_compiled(toy_model(backbone, strategy, num_steps=2))


def check_compiled(model: ppro.nn.PPro) -> None:
    x, edges, _ = toy_graph()
    compiled = torch.compile(model.eval(), fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        logits = compiled(x, edges)
    found = model.steps, model.priorities
    torch.testing.assert_close(logits, model(x, edges), atol=1e-5, rtol=1e-5)
    assert torch.equal(found[0], model.steps)
    torch.testing.assert_close(found[1], model.priorities, atol=1e-5, rtol=1e-5)


def test_compiled_training() -> None:
    torch.compiler.reset()
    torch.manual_seed(0)
    x, edges, y = toy_graph()
    model = toy_model(dropout=0.1)
    compiled = torch.compile(model, backend="aot_eager")
    theta = torch.optim.Adam(model.backbone_parameters(), lr=0.02)
    phi = torch.optim.Adam(model.controller_parameters(), lr=0.01)
    for _ in range(3):
        theta.zero_grad()
        backward(model.backbone_loss(compiled(x, edges), y))
        theta.step()
        phi.zero_grad()
        backward(model.controller_loss(x, edges, y))
        phi.step()
    assert all(p.grad is not None for p in model.parameters())


def test_parameters_fall_into_two_groups() -> None:
    model = toy_model("gcn", "l2u")
    theta, phi = model.backbone_parameters(), model.controller_parameters()
    assert not {id(p) for p in theta} & {id(p) for p in phi}
    assert {id(p) for p in (*theta, *phi)} == {id(p) for p in model.parameters()}
    assert toy_model(strategy="none").controller_parameters() == []


def test_gradients_reach_features_and_weights_of_edges() -> None:
    x, edges, y = toy_graph()
    for backbone in ("appnp", "gcn", "sgc", "gcnii"):
        model = toy_model(backbone, "none").eval()
        x.requires_grad_()
        weight = torch.ones(edges.shape[1], requires_grad=True)
        backward(model.backbone_loss(model(x, edges, weight), y))
        assert x.grad is not None
        assert weight.grad is not None
        assert bool((weight.grad != 0).any())


def test_sparse_features_say_what_dense_ones_do() -> None:
    x, edges, y = toy_graph()
    x = x.clamp(min=0)
    model = toy_model("gcn").eval()
    sparse = x.to_sparse_csr()
    torch.testing.assert_close(model(sparse, edges), model(x, edges))
    model.train()
    backward(model.backbone_loss(model(sparse, edges), y))
    backward(model.controller_loss(sparse, edges, y))


def test_an_own_optimiser() -> None:
    torch.manual_seed(0)
    x, edges, y = toy_graph()
    model = toy_model(dropout=0.0)
    theta = torch.optim.SGD(model.backbone_parameters(), lr=0.2, momentum=0.9)
    losses = []
    for _ in range(40):
        theta.zero_grad()
        loss = model.backbone_loss(model(x, edges), y)
        backward(loss)
        theta.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] - 0.2


def test_the_room_opens_without_pytorch() -> None:
    code = "import ppro.nn, sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'Ppro'"):
        ppro.nn.Ppro  # noqa: B018


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"epsilom": 0.5}, "unknown keyword 'epsilom'.*epsilon"),
        ({"lr_controller": 0.1}, "unknown keyword 'lr_controller'"),
        ({"teaching": "compare"}, "teaching is for ppro.fit and ppro.PPro.*leave it out"),
        ({"judges": "folds"}, "judges is for ppro.fit and ppro.PPro"),
        ({"heads": 2}, "unknown keyword 'heads'"),
        ({"epsilon": 2.0}, "epsilon: input should be less than or equal to 1"),
        ({"alpha": 1.5}, "alpha: input should be less than 1"),
        ({"dropout": 1.0}, "dropout: input should be less than 1"),
        ({"strategy": "l2c"}, "l2c"),
        ({"num_steps": None}, "num_steps is missing"),
        ({"measures": ("degre",)}, "degre"),
    ],
)
def test_wrong_keywords(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ppro.errors.SettingsError, match=told) as error:
        toy_model(**changes)
    assert "\n" not in str(error.value)


def test_what_print_shows() -> None:
    assert "strategy='l2b', num_steps=3" in repr(toy_model())
    assert isinstance(toy_model(), nn.Module)
    assert FEATURES == 6
