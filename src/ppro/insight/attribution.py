"""What raises or lowers an answer of the network: gradient x input, in a few passes for all nodes.

To first order, the gradient of an answer times one of its inputs is what that input adds to it.
"""

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor

from ppro.compute.features import Features
from ppro.compute.noise import Noise
from ppro.nn.backbones import Backbone
from ppro.nn.comparing.controllers import ComparingControllers
from ppro.nn.comparing.evidence import PLAIN
from ppro.nn.controllers import Controllers

CHUNK = 1024
"""Rows whose features are dense at a time."""


def weight_drivers(
    controllers: Controllers, z: Tensor, h0: Tensor, h_tilde: Tensor, depth: Tensor | None
) -> Tensor:
    """Return what z, h0, h̃ and the step add to w (Eq. 11). Shape ``[R, m, measures + 3]``.

    Args:
        depth: l / L, or None where the weight controller does not see it; it then adds 0.
    """
    given = (z, h0, h_tilde, torch.zeros_like(z[..., 0]) if depth is None else depth)
    with torch.enable_grad():
        seen = [t.detach().clone().requires_grad_() for t in given]
        w = controllers.weight(
            controllers.shared(seen[1], seen[0]), seen[2], None if depth is None else seen[3]
        )
        slopes = torch.autograd.grad(w.sum(), seen, materialize_grads=True)
    pulls = [(slope * value).detach() for slope, value in zip(slopes, seen, strict=True)]
    sums = [pulls[1].sum(-1), pulls[2].sum(-1), pulls[3]]
    return torch.cat([pulls[0], torch.stack(sums, dim=-1)], dim=-1)


def comparing_drivers(controllers: ComparingControllers, x: Tensor, measures: int) -> Tensor:
    """Return what z, the evidence and both predictions add to w. ``[R, m, measures + 15]``.

    Evidence is standardised, so what is added is counted from the mean node.

    Args:
        x: standardised evidence at the steps of the nodes. Shape ``[R, m, f]``.
        measures: the size of z.
    """
    with torch.enable_grad():
        x = x.detach().clone().requires_grad_()
        (slope,) = torch.autograd.grad(controllers.weights(x).sum(), [x])
    pulls = (slope * x).detach()
    classes = (x.shape[-1] - PLAIN - measures) // 2
    plain, z, now, first = torch.split(pulls, [PLAIN, measures, classes, classes], dim=-1)
    return torch.cat([z, plain, now.sum(-1, keepdim=True), first.sum(-1, keepdim=True)], -1)


class _Differentiable:
    """Dense rows of X in the place of :class:`Features`, with a gradient in X instead of W."""

    nodes: Tensor | None = None

    def __init__(self, x: Tensor) -> None:
        self.dense, self.shape = x, tuple(x.shape)

    def linear(self, weight: Tensor, noise: Noise | None) -> Tensor:
        """Return X W."""
        return torch.matmul(self.dense, weight)

    def of_runs(self, runs: int, noise: Noise | None) -> Tensor:
        """Return X of every run."""
        return self.dense.expand(runs, *self.shape)

    def through(self, layers: Callable[[Features], Tensor], parameters: Sequence[Tensor]) -> Tensor:
        """Return what the layers make of all rows at once."""
        return layers(cast(Features, self))


def sees_own_features_only(backbone: Backbone) -> bool:
    """Tell whether h0 of a node depends on no other node, so that one pass can explain many."""
    return type(backbone).initial is Backbone.initial


def important_features(
    backbone: Backbone, x: Tensor, classes: Tensor, top: int
) -> tuple[Tensor, Tensor]:
    """Return the features of each node that count most for or against a class, before propagation.

    The answer that is explained is the logit of the class at step 0, less the mean logit.

    Args:
        backbone: of one run.
        x: normalised features, dense or sparse CSR. Shape ``[n, f]``.
        classes: the class to explain of each node. Shape ``[n]``.

    Returns:
        Features and what each adds, the strongest first. Shape ``[n, t]`` each.
    """
    top = min(top, x.shape[1])
    indices, scores = [], []
    for begin in range(0, x.shape[0], CHUNK):
        part = _dense_rows(x, begin, begin + CHUNK)
        pulls = _feature_pulls(backbone, part, classes[begin : begin + CHUNK].to(x.device))
        strongest = pulls.abs().topk(top, dim=1).indices
        indices.append(strongest.cpu())
        scores.append(pulls.gather(1, strongest).cpu())
    return torch.cat(indices), torch.cat(scores)


def _dense_rows(x: Tensor, begin: int, end: int) -> Tensor:
    if x.layout == torch.strided:
        return x[begin:end]
    starts = x.crow_indices().long()[begin : end + 1]
    entries = slice(int(starts[0]), int(starts[-1]))
    rows = torch.repeat_interleave(
        torch.arange(starts.shape[0] - 1, device=x.device), starts.diff()
    )
    dense = x.values().new_zeros(starts.shape[0] - 1, x.shape[1])
    dense[rows, x.col_indices().long()[entries]] = x.values()[entries]
    return dense


def _feature_pulls(backbone: Backbone, x: Tensor, classes: Tensor) -> Tensor:
    """Return gradient x input of every feature of some rows. Shape ``[m, f]``."""
    with torch.enable_grad():
        x = x.detach().clone().requires_grad_()
        h0 = backbone.embed(cast(Features, _Differentiable(x)), None)
        rows = torch.arange(x.shape[0], device=x.device).unsqueeze(0)
        logits = backbone.classify(h0, h0, rows, None)[0]
        answer = logits.gather(1, classes.unsqueeze(1)).squeeze(1) - logits.mean(1)
        (slope,) = torch.autograd.grad(answer.sum(), [x])
    return (slope * x).detach()
