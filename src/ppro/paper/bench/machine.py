"""The machine of a measurement, and the file that keeps what was measured on it."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ppro.errors import RunError
from ppro.files import readable_json, write_text
from ppro.training.threads import available_cores
from ppro.training.versions import versions


def machine(device: torch.device) -> dict[str, Any]:
    """Return what a measurement was made on and with, and how busy it was before."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor()
    return {
        "device": str(device),
        "name": name or platform.machine(),
        "cores": available_cores(),
        **({"load": round(os.getloadavg()[0], 1)} if hasattr(os, "getloadavg") else {}),
        "versions": versions(),
    }


def write_report(out: Path | None, report: Mapping[str, Any]) -> None:
    """Write what is measured so far, so that nothing is lost when it is cut short.

    Raises:
        RunError: it cannot be written.
    """
    if out is None:
        return
    try:
        write_text(out, readable_json(report))
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error.strerror})") from None
