"""Tensors of a run folder: the weights of all runs, and reading safetensors in general."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor

from ppro.errors import RunError
from ppro.files import MARKER
from ppro.runs.problems import reading
from ppro.training.checkpoint import digest_of

WEIGHTS = "weights.safetensors"
CHECKSUM = "sha256"
"""Its name among what a file says of itself; files of older versions have none."""


def read_tensors(path: Path, part: slice = slice(None)) -> dict[str, Tensor]:
    """Read a safetensors file, or a part of the first dimension of each of its tensors.

    Raises:
        RunError: it is missing or damaged; where it has a checksum, a changed bit is found too.
    """
    with reading(path), safe_open(str(path), framework="pt") as file:
        wanted = (file.metadata() or {}).get(CHECKSUM)
        tensors = {name: file.get_tensor(name) for name in list(file.keys())}
        if wanted is not None and wanted != digest_of("", tensors):
            raise ValueError("its checksum differs")
        return {name: tensor[part] if tensor.dim() else tensor for name, tensor in tensors.items()}


def tensors_file(tensors: Mapping[str, Tensor]) -> bytes:
    """Return a safetensors file that can tell whether it is as it was written."""
    kept = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # One entry alone: of several the order would differ from file to file.
    return save(kept, metadata={CHECKSUM: digest_of("", kept)})


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
    path.write_bytes(tensors_file(dict(model.named_parameters())))


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
