"""Tensors of a run folder: the weights of all runs, and reading safetensors in general."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from ppro.errors import RunError
from ppro.files import MARKER, umask
from ppro.runs.config import FORMAT

WEIGHTS = "weights.safetensors"


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn the problems of reading a safetensors file into one line each."""
    try:
        yield
    except FileNotFoundError:
        raise RunError(f"{path}: missing; train again") from None
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: damaged ({error}); train again") from None


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file.

    Raises:
        RunError: it is missing or damaged.
    """
    with told(path):
        found: dict[str, Tensor] = load_file(str(path))
        return found


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
    part = slice(None) if run is None else slice(run, run + 1)
    with told(path), safe_open(str(path), framework="pt") as file:
        names = list(file.keys())
        tensors = {name: file.get_slice(name)[part] for name in names}
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        first = str(error).splitlines()[1].strip()
        raise RunError(f"{path}: not of the settings in {MARKER}: {first}; train again") from None


def saved_shapes(folder: Path) -> dict[str, list[int]]:
    """Return the shape of every weight of a run folder, without reading the weights.

    Raises:
        RunError: they are missing or damaged.
    """
    path = folder / WEIGHTS
    with told(path), safe_open(str(path), framework="pt") as file:
        names = list(file.keys())
        return {name: file.get_slice(name).get_shape() for name in names}
