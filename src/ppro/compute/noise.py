"""Dropout from a counter, not from a stream.

Whether an element is dropped is a hash of (seed of the run, epoch, site, row, column). So a run
draws the same masks alone or in a batch of runs, on a CPU or a GPU, after a resume, and for
any part of the rows, and nothing has to be stored for the backward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import torch
from torch import Tensor

from ppro.compute import cpu_noise

BLOCK = 1 << 16
"""Elements that are hashed at a time on a CPU."""

_ROW, _COLUMN, _EPOCH, _SITE = (0x9E3779B9, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F)


def _int32(value: int) -> int:
    """Return the signed 32-bit number with the same low 32 bits."""
    return (value + 2**31) % 2**32 - 2**31


def mix(h: Tensor) -> Tensor:
    """Murmur3's 32-bit finaliser, in place: every input bit flips each output bit half the time."""
    h = stir(h)
    h ^= (h >> 16) & 0xFFFF
    return h


def stir(h: Tensor) -> Tensor:
    """The finaliser without its last step, in place: the high bits, which decide, are as good."""
    low = h >> 16
    h ^= low.bitwise_and_(0xFFFF)
    h *= _int32(0x85EBCA6B)
    torch.bitwise_right_shift(h, 13, out=low)
    h ^= low.bitwise_and_(0x7FFFF)
    h *= _int32(0xC2B2AE35)
    return h


def _scattered(ids: Tensor, factor: int) -> Tensor:
    return mix(ids.to(torch.int32) * _int32(factor) + 1)


def element_ids(rows: Tensor, columns: Tensor) -> Tensor:
    """A scattered 32-bit id of each element (row, column); ``rows`` and ``columns`` broadcast."""
    return _scattered(rows, _ROW) + _scattered(columns, _COLUMN)


def matrix_ids(rows: Tensor, width: int) -> Tensor:
    """Ids of all elements of the given rows of a matrix. Shape ``[*rows.shape, width]``."""
    return element_ids(rows.unsqueeze(-1), torch.arange(width, device=rows.device))


@dataclass(frozen=True)
class Noise:
    """The dropout of one training-mode forward pass of every run.

    Args:
        seeds: seed of each run, hashed. Shape ``[R]``, int32.
        rates: dropout rate of each run. Shape ``[R]``.
        moment: number of this forward pass since the start of training. Shape ``[]``, int32.
        edge_rates: dropout rate of the edges in each run, or None to keep all. Shape ``[R]``.
        node_rates: dropout rate of whole rows of X in each run, or None. Shape ``[R]``.
        nodes: number in the whole graph of each node at hand, or None where all are. ``[n]``.
        site_rates: dropout rates of sites that have their own, by site. Shape ``[R]``.
    """

    seeds: Tensor
    rates: Tensor
    moment: Tensor
    edge_rates: Tensor | None = None
    node_rates: Tensor | None = None
    nodes: Tensor | None = None
    site_rates: Mapping[int, Tensor] = field(default_factory=dict)

    @staticmethod
    def hashed_seeds(seeds: Tensor) -> Tensor:
        """Seeds as this class wants them, from the user's."""
        return _scattered(seeds, _ROW)

    def run(self, run: int) -> Noise:
        """Return the noise of one of the runs."""
        one = slice(run, run + 1)
        edges = None if self.edge_rates is None else self.edge_rates[one]
        nodes = None if self.node_rates is None else self.node_rates[one]
        sites = {site: rates[one] for site, rates in self.site_rates.items()}
        return Noise(self.seeds[one], self.rates[one], self.moment, edges, nodes, self.nodes, sites)

    def rates_at(self, site: int) -> Tensor:
        """Return the dropout rate of each run at a site."""
        return self.site_rates.get(site, self.rates)

    def numbers(self, rows: Tensor) -> Tensor:
        """The numbers in the whole graph of nodes at hand, by which their elements are known."""
        return rows if self.nodes is None else self.nodes[rows]

    def keys(self, site: int) -> Tensor:
        """One key for each run at a site (a place in the model that drops). Shape ``[R]``."""
        return mix(mix(self.seeds + self.moment * _int32(_EPOCH)) + _int32(_SITE * (site + 1)))

    def scale(self, ids: Tensor, site: int, rates: Tensor | None = None) -> Tensor:
        """Return what to multiply elements with: 0 where dropped, 1 / (1 - rate) where kept.

        Args:
            ids: element ids, shape ``[R, ...]`` or ``[1, ...]``.
            site: the place in the model.
            rates: other rates than the usual ones. Shape ``[R]``.
        """
        rates = self.rates_at(site) if rates is None else rates
        if ids.is_cuda and _gpu_dropout() is not None:
            return self.drop(torch.ones_like(ids, dtype=rates.dtype), ids, site, rates)
        kept = self._dropped(ids.unsqueeze(-1).flatten(2), None, site, rates)
        return kept.view(kept.shape[0], *ids.shape[1:])

    def _dropped(
        self,
        ids: Tensor,
        columns: Tensor | None,
        site: int,
        rates: Tensor,
        values: Tensor | None = None,
    ) -> Tensor:
        """Return values with elements dropped, or what to multiply them with where None are given.

        Args:
            ids: of elements; of rows where columns are given. Shape ``[R, m, w]``, or 1 for R or w.
            columns: what to add for each column, or None. Shape ``[w]``.
            values: shape ``[R, m, w]`` or ``[1, m, w]``, on a CPU.
        """
        if ids.is_cuda:
            keys, shares = self.keys(site).view(-1, 1, 1), rates.view(-1, 1, 1)
            limits = (shares.double() * 2**32 - 2**31).clamp(max=2**31 - 1).to(torch.int32)
            return (stir(ids + keys) >= limits) * (1 / (1 - shares))
        # Through NumPy: this is a CPU, and tests hold an epoch to asking no tensor for its value.
        seeds, moment = self.seeds.numpy().tolist(), int(self.moment.numpy())
        marks = seeds, moment, _EPOCH, _SITE * (site + 1)
        return cpu_noise.dropped(ids, columns, cpu_noise.keys_of(*marks), rates, values, BLOCK)

    def drop(self, values: Tensor, ids: Tensor, site: int, rates: Tensor | None = None) -> Tensor:
        """Inverted dropout: the values times :meth:`scale`, in one kernel where there is one.

        Args:
            values: shape ``[R, ...]``, or ``[1, ...]`` where the runs share them.
            ids: element ids, shape ``[R, ...]`` or ``[1, ...]``.

        Returns:
            Shape ``[R, ...]``.
        """
        if values.is_cuda and (fused := _gpu_dropout()) is not None:
            rates = self.rates_at(site) if rates is None else rates
            keys = _int32(_SITE * (site + 1)), _int32(_EPOCH)
            return fused(values, ids, self.seeds, rates, self.moment, *keys)
        rates, shape = self.rates_at(site) if rates is None else rates, values.shape[1:]
        alike = values.dtype == rates.dtype and ids.shape[1:] == shape
        if values.is_cuda or values.requires_grad or not alike:
            return values * self.scale(ids, site, rates)
        ids, values = (part.unsqueeze(-1).flatten(2) for part in (ids, values))
        return self._dropped(ids, None, site, rates, values).view(rates.shape[0], *shape)

    def drop_rows(self, values: Tensor, rows: Tensor, site: int) -> Tensor:
        """Inverted dropout of rows of a matrix, known by their numbers.

        Args:
            values: Shape ``[R, m, w]``.
            rows: Shape ``[R, m]`` or ``[1, m]``.
        """
        width = values.shape[-1]
        if values.is_cuda:
            return self.drop(values, matrix_ids(rows, width), site)
        columns = _scattered(torch.arange(width), _COLUMN)
        ids, rates = _scattered(rows, _ROW).unsqueeze(-1), self.rates_at(site)
        if values.requires_grad or values.dtype != rates.dtype:
            return values * self._dropped(ids, columns, site, rates)
        return self._dropped(ids, columns, site, rates, values)


@cache
def _gpu_dropout() -> Callable[..., Tensor] | None:
    """Return the fused kernel, or None where there is no Triton."""
    try:
        from ppro.compute.gpu_noise import DropOnGpu
    except ImportError:
        return None
    apply: Callable[..., Tensor] = DropOnGpu.apply
    return apply
