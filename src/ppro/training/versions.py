"""What a result was computed with."""

import platform

import torch

from ppro import __version__


def versions() -> dict[str, str]:
    """Return the versions of PPro, PyTorch and Python, also where PPro was never installed."""
    return {
        "ppro": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
