"""Tensors of a run folder: the weights of all runs, and reading safetensors in general."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from ppro.errors import RunError
from ppro.files import MARKER, umask
from ppro.runs.config import FORMAT
from ppro.runs.problems import reading

WEIGHTS = "weights.safetensors"


def read_tensors(path: Path, part: slice = slice(None)) -> dict[str, Tensor]:
    """Read a safetensors file, or a part of the first dimension of each of its tensors.

    Raises:
        RunError: it is missing or damaged.
    """
    with reading(path), safe_open(str(path), framework="pt") as file:
        names = list(file.keys())
        return {name: file.get_slice(name)[part] for name in names}


def check_shapes(folder: Path, runs: int, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Compare what the weights of a run folder are said to be with what they are.

    Args:
        shapes: of the parameters of one run, by name.

    Raises:
        RunError: they are missing, damaged, or of other settings.
    """
    path = folder / WEIGHTS
    with reading(path), safe_open(str(path), framework="pt") as file:
        found = {name: tuple(file.get_slice(name).get_shape()) for name in list(file.keys())}
    wanted = {name: (runs, *shape) for name, shape in shapes.items()}
    differing = sorted(n for n in found.keys() | wanted.keys() if found.get(n) != wanted.get(n))
    if differing:
        name = differing[0]
        was, asked = (_shown(of.get(name)) for of in (found, wanted))
        raise RunError(
            f"{path}: not of the settings in {MARKER}: {name} is {was}, not {asked}; train again"
        )


def _shown(shape: tuple[int, ...] | None) -> str:
    return "missing" if shape is None else " x ".join(map(str, shape)) or "a number"


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
