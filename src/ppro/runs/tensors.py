"""Tensors of a run folder: the weights of all runs, and reading safetensors in general."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ppro.errors import RunError
from ppro.files import MARKER, umask
from ppro.runs.config import FORMAT

WEIGHTS = "weights.safetensors"


def read_tensors(path: Path, part: slice = slice(None)) -> dict[str, Tensor]:
    """Read a safetensors file, or a part of the first dimension of each of its tensors.

    Raises:
        RunError: it is missing or damaged.
    """
    try:
        with safe_open(str(path), framework="pt") as file:
            names = list(file.keys())
            return {name: file.get_slice(name)[part] for name in names}
    except FileNotFoundError:
        raise RunError(f"{path}: missing; train again") from None
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: damaged ({error}); train again") from None


def write_weights(folder: Path, model: torch.nn.Module) -> None:
    """Write the weights of all runs; the first dimension of each tensor is the run."""
    path = folder / WEIGHTS
    tensors = {name: p.detach().cpu().contiguous() for name, p in model.named_parameters()}
    save_file(tensors, str(path), metadata={"format": str(FORMAT)})
    path.chmod(0o666 & ~umask())


def read_weights(folder: Path, model: torch.nn.Module, run: int | None = None) -> None:
    """Load the weights of a run folder into a model of the same settings.

    Args:
        run: the one run that the model holds; None for all.

    Raises:
        RunError: they are missing, damaged or of other settings.
    """
    path = folder / WEIGHTS
    tensors = read_tensors(path, slice(None) if run is None else slice(run, run + 1))
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        first = str(error).splitlines()[1].strip()
        raise RunError(f"{path}: not of the settings in {MARKER}: {first}; train again") from None
