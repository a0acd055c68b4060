"""The device that a user names."""

from __future__ import annotations

import torch

from ppro.errors import SettingsError


def find_device(wanted: str | torch.device) -> torch.device:
    """The device of a name; auto is a GPU where there is one."""
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise SettingsError(f"device {wanted!r}: unknown; use auto, cpu, cuda or cuda:N") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise SettingsError(f"device {wanted}: this machine has no such one; use cpu")
    return device
