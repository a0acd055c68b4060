"""What a result was computed with."""

import platform

import torch

from ppro.parts.version import VERSION


def versions() -> dict[str, str]:
    """Return the versions of PPro, PyTorch and Python, also where PPro was never installed."""
    return {
        "ppro": VERSION,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
