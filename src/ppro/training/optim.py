"""Adam over the parameters of many runs, each with its own learning rate and decay."""

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor, nn

from ppro.compute.ranks import ALONE, Ranks

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class RunAdam:
    """Adam (Kingma & Ba, 2015) with an L2 penalty, over one flat buffer ``[R, P]``.

    The parameters become views of the buffer, so a step is a handful of operations however many
    parameters there are, and keeping the best state of each run is one. A parameter's first
    dimension is the run; with a single run its shape is free.

    Args:
        parameters: what to train.
        lr: learning rate of each run. Shape ``[R]``.
        decays: groups of the parameters with the L2 factor of each run, shape ``[R]``; those in
            no group do not decay.
        ranks: the processes whose losses add up to that of a run.
        copies: how many networks a run has, one after the other in the first dimension.
    """

    def __init__(
        self,
        parameters: Sequence[nn.Parameter],
        lr: Tensor,
        decays: Sequence[tuple[Sequence[nn.Parameter], Tensor]] = (),
        ranks: Ranks = ALONE,
        copies: int = 1,
    ) -> None:
        self.copies, lr = copies, lr.repeat_interleave(copies)
        decays = [(members, factor.repeat_interleave(copies)) for members, factor in decays]
        runs = lr.shape[0]
        group = {id(p): g for g, (members, _) in enumerate(decays) for p in members}
        self.parameters = sorted(parameters, key=lambda p: group.get(id(p), len(decays)))
        self.sizes = [p.numel() // runs for p in self.parameters]
        widths = [sum(p.numel() // runs for p in members) for members, _ in decays]
        ends = list(accumulate(widths))
        self.decayed = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
        self.ranks = ranks
        self.lr, self.weight_decays = lr, [factor for _, factor in decays]
        self.steps = torch.zeros((), dtype=torch.float64, device=lr.device)
        self.hold(torch.cat([p.detach().reshape(runs, -1) for p in self.parameters], dim=1))
        self.first, self.second = torch.zeros_like(self.flat), torch.zeros_like(self.flat)

    def hold(self, flat: Tensor) -> None:
        """Make the parameters views of ``flat``, whose number of runs may differ from before."""
        self.flat = flat
        for p, value in zip(self.parameters, torch.split(flat, self.sizes, 1), strict=True):
            shape = p.shape if value.numel() == p.numel() else (flat.shape[0], *p.shape[1:])
            p.data = value.view(shape)

    @property
    def by_run(self) -> Tensor:
        """All parameters of each run, its networks side by side. Shape ``[R, copies * P]``."""
        return self.flat.view(self.flat.shape[0] // self.copies, -1)

    def hold_by_run(self, state: Tensor) -> None:
        """Make the parameters views of a state as :attr:`by_run` gives it."""
        self.hold(state.view(state.shape[0] * self.copies, -1))

    def restart(self, flat: Tensor) -> None:
        """Begin anew from the given parameters. ``flat``: shape ``[copies * R, P]``."""
        self.flat.copy_(flat)
        for moment in (self.first, self.second, self.steps):
            moment.zero_()

    def minimise(self, loss: Tensor) -> None:
        """One update of every run against its own loss. ``loss``: shape ``[R]``."""
        grads = torch.autograd.grad(loss.sum(), self.parameters, materialize_grads=True)
        flat = torch.cat([g.reshape(self.flat.shape[0], -1) for g in grads], dim=1)
        self.step(self.ranks.sum(flat))

    def step(self, grad: Tensor) -> None:
        """Adam's update for a gradient, which it overwrites. ``grad``: shape ``[R, P]``."""
        self.steps += 1
        for part, factor in zip(self.decayed, self.weight_decays, strict=True):
            grad[:, part].addcmul_(self.flat[:, part], factor.unsqueeze(1))
        self.first.lerp_(grad, 1 - BETA1)
        self.second.mul_(BETA2).addcmul_(grad, grad, value=1 - BETA2)
        correction1, correction2 = 1 - BETA1**self.steps, 1 - BETA2**self.steps
        size = (self.lr / correction1).to(grad.dtype).unsqueeze(1)
        scale = correction2.sqrt().to(grad.dtype)
        denominator = torch.sqrt(self.second, out=grad).div_(scale).add_(EPSILON)
        self.flat.addcdiv_(self.first * size, denominator, value=-1)

    def select(self, runs: Tensor) -> None:
        """Keep only some of the runs."""
        own = torch.arange(self.copies, device=runs.device)
        runs = (runs.unsqueeze(1) * self.copies + own).flatten()
        self.hold(self.flat[runs])
        self.lr = self.lr[runs]
        self.weight_decays = [factor[runs] for factor in self.weight_decays]
        self.first, self.second = self.first[runs], self.second[runs]
