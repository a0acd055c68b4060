"""Heterophily degree."""

from typing import ClassVar

import torch
from torch import Tensor

from ppro.compute.blocks import each_block, row_blocks
from ppro.nn.priority.base import Measure

MANY_NODES, BLOCK_ROWS = 2**18, 16_384
"""Nodes from which distances are taken in blocks of rows, and rows in a block."""


class Heterophily(Measure):
    """he_i = ‖h_i^(0) - ĥ_i^(1)‖ (Eq. 5), with the backbone's own aggregate.

    Both are as they were before the first step's weights and dropout (see
    :meth:`ppro.nn.backbones.Backbone.comparable`).
    """

    name: ClassVar[str] = "heterophily"
    title: ClassVar[str] = "heterophily degree"
    fixed: ClassVar[bool] = False
    up_to_scale: ClassVar[bool] = True

    def of_step(self, h0: Tensor, aggregate: Tensor) -> Tensor:
        """Return he_i."""
        return heterophily_degree(h0, aggregate)


def heterophily_degree(h0: Tensor, aggregate: Tensor) -> Tensor:
    """he_i = ‖h_i^(0) - ĥ_i^(1)‖ (Eq. 5). Shapes: ``[..., n, d]`` twice to ``[..., n]``."""
    learning = h0.requires_grad or aggregate.requires_grad
    if learning or h0.is_cuda or h0.shape[-2] < MANY_NODES:
        distance: Tensor = torch.linalg.vector_norm(h0 - aggregate, dim=-1)
        return distance
    out = h0.new_empty(h0.shape[:-1])

    @torch.no_grad()
    def work(rows: slice) -> None:
        apart = h0[..., rows, :] - aggregate[..., rows, :]
        out[..., rows] = torch.linalg.vector_norm(apart, dim=-1)

    each_block(work, row_blocks(h0.shape[-2], BLOCK_ROWS))
    return out
