"""Single precision, the CPU and gradients, whatever the user has made the default of PyTorch."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

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


@contextmanager
def as_by_default() -> Iterator[None]:
    """Work as in a PyTorch of which nothing was set, while the block, or the function, lasts.

    New tensors are single ones on the CPU unless a device is named, and what is done to them is
    recorded, also where a notebook has switched gradients off.
    """
    # Every call of PyTorch costs more where a default device is set, so it is only where needed.
    elsewhere = torch.get_default_device().type != "cpu"
    device = torch.device("cpu") if elsewhere else nullcontext()
    with in_float32(), device, torch.inference_mode(False), torch.enable_grad():
        yield
