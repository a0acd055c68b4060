"""Consistency on all nodes: several forwards under dropout should say the same of a node.

Not part of the paper; off unless ``consistency`` is above 0. It follows GRAND (Feng et al., 2020):
the mean prediction of S training-mode forwards, sharpened, is what each of them is drawn to.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from ppro.nn.network import Rows


def sharpened(predictions: Tensor, temperature: Tensor) -> Tensor:
    """p^(1/T), normalised over the classes.

    Args:
        predictions: class probabilities. Shape ``[R, n, c]``.
        temperature: T of each run; below 1 it sharpens. Shape ``[R]``.
    """
    # In logarithms: a small T would take small probabilities below the smallest number.
    return (predictions.clamp_min(1e-30).log() / temperature.view(-1, 1, 1)).softmax(-1)


def consistency_loss(
    logits: Sequence[Tensor], temperature: Tensor, weights: Tensor | None = None
) -> Tensor:
    """Mean over forwards and nodes of the squared distance to the sharpened mean prediction.

    Args:
        logits: of each forward. Shapes ``[R, n, c]``.
        temperature: Shape ``[R]``.
        weights: of each node, such as its priority; equal where None. Shape ``[R, n]``.

    Returns:
        Shape ``[R]``.
    """
    predictions = torch.stack([forward.softmax(-1) for forward in logits])
    target = sharpened(predictions.mean(0), temperature).detach()
    distance = (predictions - target).square().sum(-1).mean(0)
    if weights is not None:
        distance = distance * (weights / weights.mean(-1, keepdim=True))
    return distance.mean(-1)


def ramp(epoch: Tensor, length: int) -> Tensor:
    """From 0 to 1 over the first epochs, since early predictions are not worth agreeing on."""
    return (epoch.to(torch.float32) / max(length, 1)).clamp(max=1.0)


def with_all_nodes(rows: Rows, num_nodes: int, *, full_depth: bool) -> Rows:
    """Return the rows, followed by every node without its label.

    Args:
        full_depth: whether the nodes that follow take all L steps, whatever the controllers say.
    """
    runs = rows.nodes.shape[0]
    nodes = torch.arange(num_nodes, device=rows.nodes.device).expand(runs, -1)
    nothing = torch.zeros_like(nodes)
    return Rows(
        torch.cat([rows.nodes, nodes], 1),
        torch.cat([rows.labels, nothing], 1),
        torch.cat([rows.valid, nothing.to(rows.valid.dtype)], 1),
        rows.nodes.shape[1] if full_depth else None,
    )
