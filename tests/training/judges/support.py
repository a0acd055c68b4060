"""Training rows of runs of different sizes."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ppro.nn.network import Rows


def rows_of(sizes: Sequence[int], classes: int = 1, seed: int = 0) -> Rows:
    """So many rows of each run, padded; their classes are drawn at random."""
    rng = torch.Generator().manual_seed(seed)
    valid = (torch.arange(max(sizes)) < torch.tensor(sizes).unsqueeze(1)).to(torch.float32)
    nodes = torch.arange(max(sizes)).expand(len(sizes), -1)
    labels = torch.randint(classes, valid.shape, generator=rng)
    return Rows(nodes, torch.where(valid > 0, labels, 0), valid)
