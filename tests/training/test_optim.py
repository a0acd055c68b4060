from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ppro.training.optim import RunAdam
from tests.support import tensor64

RUNS = 3
LR = torch.tensor([0.01, 0.1, 0.001], dtype=torch.float64)
DECAY = torch.tensor([0.0, 0.01, 0.5], dtype=torch.float64)


def parameters() -> list[nn.Parameter]:
    shapes = ((4, 3), (3,), (1, 1))
    return [nn.Parameter(tensor64(RUNS, *s, seed=i)) for i, s in enumerate(shapes)]


def loss_of(run: int, values: list[Tensor]) -> Tensor:
    """A different smooth function for each run."""
    w, b, s = values
    return ((w @ b).sin() * (run + 1)).sum() + (w**4).mean() + (s * b).sum() ** 2


def losses(params: list[nn.Parameter], runs: list[int]) -> Tensor:
    each = [loss_of(run, [p[at] for p in params]) for at, run in enumerate(runs)]
    return torch.stack(each)


class Alone:
    """torch.optim.Adam on one run; the second parameter decays."""

    def __init__(self, run: int) -> None:
        self.run = run
        self.values = [nn.Parameter(p[run].detach().clone()) for p in parameters()]
        w, b, s = self.values
        groups: list[dict[str, Any]] = [
            {"params": [b], "weight_decay": float(DECAY[run])},
            {"params": [w, s]},
        ]
        self.adam = torch.optim.Adam(groups, lr=float(LR[run]))

    def step(self) -> None:
        grads = torch.autograd.grad(loss_of(self.run, list(self.values)), self.values)
        for value, grad in zip(self.values, grads, strict=True):
            value.grad = grad
        self.adam.step()

    def check(self, params: list[nn.Parameter], at: int) -> None:
        for value, p in zip(self.values, params, strict=True):
            torch.testing.assert_close(p[at].detach(), value.detach(), atol=1e-12, rtol=1e-10)


def test_each_run_takes_the_steps_of_torch_adam() -> None:
    params, alone = parameters(), [Alone(run) for run in range(RUNS)]
    adam = RunAdam(params, LR, [([params[1]], DECAY)])
    for _ in range(20):
        adam.minimise(losses(params, [0, 1, 2]))
        for run, reference in enumerate(alone):
            reference.step()
            reference.check(params, run)


def test_selected_runs_go_on_as_before() -> None:
    params, alone = parameters(), [Alone(run) for run in range(RUNS)]
    adam = RunAdam(params, LR, [([params[1]], DECAY)])
    kept = [0, 1, 2]
    for epoch in range(20):
        if epoch in (5, 10):
            chosen = torch.tensor([0, 2] if epoch == 5 else [1])
            adam.select(chosen)
            kept = [kept[int(i)] for i in chosen]
            assert [p.shape[0] for p in params] == [len(kept)] * 3
        adam.minimise(losses(params, kept))
        for at, run in enumerate(kept):
            alone[run].step()
            alone[run].check(params, at)


def test_hold_brings_back_a_state_with_all_its_runs() -> None:
    params = parameters()
    adam = RunAdam(params, LR, [([params[1]], DECAY)])
    adam.minimise(losses(params, [0, 1, 2]))
    before = [p.detach().clone() for p in params]
    state = adam.flat.clone()
    adam.select(torch.tensor([1]))
    adam.minimise(losses(params, [1]))
    adam.hold(state)
    for p, expected in zip(params, before, strict=True):
        assert torch.equal(p.detach(), expected)


def test_a_parameter_without_gradient_only_decays() -> None:
    params = parameters()
    adam = RunAdam(params, LR, [([params[2]], torch.ones_like(DECAY))])
    start = [p.detach().clone() for p in params]
    adam.minimise((params[0] ** 2).flatten(1).sum(1))
    assert torch.equal(params[1].detach(), start[1])
    assert bool((params[2].detach().abs() < start[2].abs()).all())


def test_a_single_run_may_have_parameters_of_any_shape() -> None:
    w = nn.Parameter(tensor64(4, 3))
    expected = nn.Parameter(w.detach().clone())
    adam = RunAdam([w], LR[:1], [([w], DECAY[1:2])])
    reference = torch.optim.Adam([expected], lr=float(LR[0]), weight_decay=float(DECAY[1]))
    for _ in range(5):
        adam.minimise((w**2).sum().view(1))
        expected.grad = 2 * expected.detach()
        reference.step()
    assert w.shape == (4, 3)
    torch.testing.assert_close(w.detach(), expected.detach())
