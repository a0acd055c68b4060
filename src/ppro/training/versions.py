"""What a result was computed with."""

import platform
from importlib.metadata import version

import torch


def versions() -> dict[str, str]:
    """Return the versions of PPro, PyTorch and Python."""
    return {
        "ppro": version("ppro"),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
