"""Products of dense matrices with the weights of every run.

On a CPU those in single precision go through oneDNN, which PyTorch brings along: on the AMD
processor where both were timed, its products of tall matrices took less than half of the time of
BLAS, at the same precision.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

LEAST_WORK = 2**20
"""Multiplications of a run's product from which a call of oneDNN costs less than it saves."""
NARROW, MANY_ROWS = 16, 2048
"""Columns of a result below which BLAS is several times faster at its transpose on a CPU, and rows
from which that matters."""


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W + b of every run, differentiable.

    Args:
        x: Shape ``[R, m, in]``.
        weight: W. Shape ``[R, in, out]``.
        bias: b, or None. Shape ``[R, out]``.

    Returns:
        Shape ``[R, m, out]``.
    """
    if not _is_plain(x, weight):
        return _library(x, weight, bias)
    out: Tensor = _Product.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return out


def added_product(total: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Return a total + x W of every run, differentiable.

    Args:
        total: what broadcasts to the result. Shape ``[R, m, out]`` or ``[R, 1, out]``.
    """
    if not (_is_plain(x, weight) and _suits_onednn(x)):
        return torch.baddbmm(total, x, weight)
    made = product(x, weight)
    return made + total if made.requires_grad or total.requires_grad else made.add_(total)


def matrix_product(x: Tensor, weight: Tensor) -> Tensor:
    """x W of one run without autograd. Shapes: ``[m, in]`` and ``[in, out]`` to ``[m, out]``."""
    if not (_is_plain(x.unsqueeze(0), weight.unsqueeze(0)) and _suits_onednn(x)):
        return torch.mm(x, weight)
    return _onednn(x, weight, None)


def adjoint_product(x: Tensor, g: Tensor) -> Tensor:
    """xᵀ g of one run without autograd. Shapes: ``[m, in]`` and ``[m, out]`` to ``[in, out]``."""
    if not (_is_plain(x.t().unsqueeze(0), g.unsqueeze(0)) and _suits_onednn(x)):
        return torch.mm(x.t(), g)
    # From the other side, where x lies in rows.
    return _onednn(g.t().contiguous(), x, None).t()


def _is_plain(x: Tensor, weight: Tensor) -> bool:
    """Tell whether the product may be made in another way than by one call of PyTorch."""
    if x.is_cuda or x.shape[1] * weight[0].numel() < LEAST_WORK or torch.compiler.is_compiling():
        return False
    alike = x.dtype == weight.dtype and x.dtype in (torch.float32, torch.float64)
    return alike and x.device.type == "cpu" and not torch.is_autocast_enabled("cpu")


def _library(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return torch.bmm(x, weight) if bias is None else torch.baddbmm(bias.unsqueeze(1), x, weight)


def _find_onednn() -> Callable[..., Tensor] | None:
    """Return oneDNN's product, or None where this PyTorch has none."""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return None
    try:
        found: Callable[..., Tensor] = torch.ops.mkldnn._linear_pointwise
    except (AttributeError, RuntimeError):
        return None
    return found


_ONEDNN = _find_onednn()


def _suits_onednn(x: Tensor) -> bool:
    return _ONEDNN is not None and x.dtype == torch.float32


def _onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x W + b of one run, without autograd. x may have a dimension of one in front."""
    assert _ONEDNN is not None
    return _ONEDNN(x, weight.t(), bias, "none", [], "")


def _of_runs(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W + b of every run by the fastest way, without autograd."""
    if _suits_onednn(x):
        biases = [None] * len(weight) if bias is None else bias.unbind()
        if len(weight) == 1:
            return _onednn(x, weight[0], biases[0])
        parts = zip(x.unbind(), weight.unbind(), biases, strict=True)
        return torch.stack([_onednn(*part) for part in parts])
    if weight.shape[-1] >= NARROW or x.shape[1] < MANY_ROWS:
        return _library(x, weight, bias)
    turned = torch.bmm(weight.transpose(1, 2), x.transpose(1, 2))
    turned = turned if bias is None else turned.add_(bias.unsqueeze(2))
    return turned.transpose(1, 2).contiguous()


def _of_weight(x: Tensor, g: Tensor) -> Tensor:
    """xᵀ g of every run: the gradient of W."""
    if g.shape[-1] < NARROW and x.shape[1] >= MANY_ROWS:
        return torch.bmm(g.transpose(1, 2), x).transpose(1, 2)
    return torch.bmm(x.transpose(1, 2), g)


class _Product(torch.autograd.Function):
    """x W + b with its gradients."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _of_runs(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (g,), (x, weight) = grads, ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.needs_input_grad
        return (
            product(g, weight.transpose(1, 2)) if of_x else None,
            _of_weight(x, g) if of_weight else None,
            g.sum(1) if of_bias else None,
        )
