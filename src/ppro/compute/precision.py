"""Single precision, whatever the user has made the default of PyTorch."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def in_float32() -> Iterator[None]:
    """Make new tensors of floating point single ones while the block, or the function, lasts."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
