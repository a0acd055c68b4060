"""The controllers over many rows, block by block: their first layer is never stored for all."""

from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn

from ppro.compute.blocks import in_blocks
from ppro.nn.controllers import Controllers

BLOCK_ROWS, GPU_BLOCK_ROWS = 8192, 2**20
"""Rows in a block: on a CPU it fits a cache, on a GPU it is worth the start of its kernels."""
MANY_ROWS = 2**18
"""Rows from which blocks pay: below, the first layer is stored once and used in every step."""


class BlockedControllers(Controllers):
    """Controllers that hold the same weights and say the same, with little memory for many rows.

    For many rows ``shared`` hands on its inputs, and each head works the first layer out anew.
    """

    many_rows = MANY_ROWS
    block_rows = BLOCK_ROWS

    @classmethod
    def of(cls, controllers: Controllers) -> Self:
        """Return the same controllers, with the same parameters."""
        made = cls.__new__(cls)
        nn.Module.__init__(made)
        for name, parameter in controllers.named_parameters():
            made.register_parameter(name, parameter)
        if controllers.progress is None:
            made.progress = None
        if controllers.mean_weight is None:
            made.mean_weight = None
        made.weight_form, made.steps_needed = controllers.weight_form, {}
        return made

    def shared(self, h0: Tensor, z: Tensor | None) -> Tensor:
        """As of :class:`Controllers`; for many rows [h0 ‖ z], what it is made of."""
        if h0.shape[1] <= self.many_rows:
            return super().shared(h0, z)
        return h0 if z is None else torch.cat([h0, z], dim=-1)

    def may_look_ahead(self, rows: int) -> bool:
        """Many rows are looked at block by block, one step after the other."""
        return rows <= self.many_rows

    def probability(
        self,
        shared: Tensor,
        h: Tensor,
        aggregate: Tensor,
        best: Tensor | None = None,
        progress: Tensor | None = None,
    ) -> Tensor:
        """Pr(r = 1) of step k (Eq. 7, 8)."""
        head = super().probability
        return self._blocks(
            lambda u, rows: head(
                u, h[:, rows], aggregate[:, rows], _some(best, rows), _some(progress, rows)
            ),
            shared,
        )

    def weight(self, shared: Tensor, h_tilde: Tensor, depth: Tensor | None) -> Tensor:
        """w_i (Eq. 11)."""
        head = super().weight
        return self._blocks(lambda u, rows: head(u, h_tilde[:, rows], _some(depth, rows)), shared)

    def _blocks(self, head: Callable[[Tensor, slice], Tensor], shared: Tensor) -> Tensor:
        """Return a head over all rows, at once or block by block."""
        count, width = shared.shape[1], self.initial.shape[1]
        if count <= self.many_rows:
            return head(shared, slice(None))
        first_layer = super().shared

        def compute(rows: slice) -> Tensor:
            inputs = shared[:, rows]
            z = inputs[..., width:] if inputs.shape[-1] > width else None
            return head(first_layer(inputs[..., :width], z), rows)

        size = GPU_BLOCK_ROWS if shared.is_cuda else self.block_rows
        return in_blocks(compute, count, size, list(self.parameters()))


def _some(values: Tensor | None, rows: slice) -> Tensor | None:
    return None if values is None else values[:, rows]
