"""Adam over the parameters of many runs, each with its own learning rate and decay."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class RunAdam:
    """Adam (Kingma & Ba, 2015) with an L2 penalty, over one flat buffer ``[R, P]``.

    The parameters become views of the buffer, so a step is a handful of operations however many
    parameters there are, and keeping the best state of each run is one. A parameter's first
    dimension is the run; with a single run its shape is free.

    Args:
        parameters: what to train.
        decayed: those of them that weight decay acts on.
        lr: learning rate of each run. Shape ``[R]``.
        weight_decay: L2 factor of each run. Shape ``[R]``.
    """

    def __init__(
        self,
        parameters: Sequence[nn.Parameter],
        decayed: Sequence[nn.Parameter],
        lr: Tensor,
        weight_decay: Tensor,
    ) -> None:
        runs = lr.shape[0]
        first = {id(p) for p in decayed}
        self.parameters = sorted(parameters, key=lambda p: id(p) not in first)
        self.sizes = [p.numel() // runs for p in self.parameters]
        self.num_decayed = sum(p.numel() // runs for p in decayed)
        self.lr, self.weight_decay = lr, weight_decay
        self.steps = torch.zeros((), dtype=torch.float64, device=lr.device)
        self.hold(torch.cat([p.detach().reshape(runs, -1) for p in self.parameters], dim=1))
        self.first, self.second = torch.zeros_like(self.flat), torch.zeros_like(self.flat)

    def hold(self, flat: Tensor) -> None:
        """Make the parameters views of ``flat``, whose number of runs may differ from before."""
        self.flat = flat
        for p, value in zip(self.parameters, torch.split(flat, self.sizes, 1), strict=True):
            shape = p.shape if value.numel() == p.numel() else (flat.shape[0], *p.shape[1:])
            p.data = value.view(shape)

    def minimise(self, loss: Tensor) -> None:
        """One update of every run against its own loss. ``loss``: shape ``[R]``."""
        grads = torch.autograd.grad(loss.sum(), self.parameters, materialize_grads=True)
        self.step(torch.cat([g.reshape(self.flat.shape[0], -1) for g in grads], dim=1))

    def step(self, grad: Tensor) -> None:
        """Adam's update for a gradient, which it overwrites. ``grad``: shape ``[R, P]``."""
        self.steps += 1
        decay = slice(0, self.num_decayed)
        grad[:, decay].addcmul_(self.flat[:, decay], self.weight_decay.unsqueeze(1))
        self.first.lerp_(grad, 1 - BETA1)
        self.second.mul_(BETA2).addcmul_(grad, grad, value=1 - BETA2)
        correction1, correction2 = 1 - BETA1**self.steps, 1 - BETA2**self.steps
        size = (self.lr / correction1).to(grad.dtype).unsqueeze(1)
        scale = correction2.sqrt().to(grad.dtype)
        denominator = torch.sqrt(self.second, out=grad).div_(scale).add_(EPSILON)
        self.flat.addcdiv_(self.first * size, denominator, value=-1)

    def select(self, runs: Tensor) -> None:
        """Keep only some of the runs."""
        self.hold(self.flat[runs])
        self.lr, self.weight_decay = self.lr[runs], self.weight_decay[runs]
        self.first, self.second = self.first[runs], self.second[runs]
