"""Measures on one scale: zero mean and unit variance over all nodes."""

import torch
from torch import Tensor


def moments(measure: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and deviation over the nodes; that of a constant is 0. ``[..., n]`` to 1."""
    mean = measure.mean(-1, keepdim=True)
    deviation = (measure - mean).square().mean(-1, keepdim=True).sqrt()
    flat = deviation <= 1e-7 * measure.abs().amax(-1, keepdim=True)
    return mean, torch.where(flat, 0.0, deviation)


def standardised(measure: Tensor, by: tuple[Tensor, Tensor] | None = None) -> Tensor:
    """Return a measure with zero mean and unit variance, ``[..., n]``; a constant becomes zero.

    Raw degrees and norms differ by orders of magnitude and would saturate the controllers.

    Args:
        by: mean and deviation of all nodes where the measure is that of some; None for its own.
    """
    mean, deviation = moments(measure) if by is None else by
    flat = deviation == 0
    return torch.where(flat, 0.0, (measure - mean) / torch.where(flat, 1.0, deviation))
