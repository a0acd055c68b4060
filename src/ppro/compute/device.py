"""The device that a user names."""

import re

import torch

from ppro.errors import SettingsError


def find_device(wanted: str | torch.device) -> torch.device:
    """Return the device of a name; auto is a GPU where there is one.

    Raises:
        SettingsError: there is no such device.
    """
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if not re.fullmatch(r"cpu|cuda(:\d+)?", str(wanted)):
        raise SettingsError(f"device {str(wanted)!r}: unknown; use auto, cpu, cuda or cuda:N")
    device = torch.device(wanted)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise SettingsError(f"device {wanted}: this machine has no such one; use cpu")
    return device


def may_ask(values: torch.Tensor) -> bool:
    """Tell whether the host may look at values in the middle of the work; a GPU would stall."""
    return not values.is_cuda
