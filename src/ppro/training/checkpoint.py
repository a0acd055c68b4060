"""Checkpoints: a killed training goes on from the last one, on a CPU to the same bits.

A checkpoint is a folder with one file for each worker, since workers never wait for each other.
A file is written under a temporary name, flushed to the disk and renamed: under its final name it
is always whole, whenever the power fails.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ppro.errors import RunError
from ppro.files import HIDDEN, check_regular, held, remove_stale, whole_file
from ppro.settings.limits import CHECKPOINT_EVERY, MOST_CORES
from ppro.training.fingerprint import Fingerprint, differing

logger = logging.getLogger(__name__)

FORMAT = 3
LOCK = f"{HIDDEN}lock"
_PART = "part-{}.safetensors"


@dataclass(frozen=True)
class Checkpointing:
    """Where and how often a training is saved, and whether it goes on from what is there.

    Args:
        folder: a folder of its own; made when it is missing.
        every: seconds between two checkpoints, at least.
        resume: go on from the checkpoint in the folder; without one, begin. When False, what is
            there is replaced.
    """

    folder: Path
    every: float = CHECKPOINT_EVERY
    resume: bool = False

    @classmethod
    def of(cls, given: Checkpointing | Path | str | None, resume: bool) -> Self | None:
        """From what a user gave: a folder, or all of it."""
        if given is None:
            if resume:
                raise RunError("resume needs a checkpoint; give the folder of one")
            return None
        if isinstance(given, Checkpointing):
            return cls(given.folder, given.every, resume or given.resume)
        return cls(Path(given), resume=resume)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes off the checkpoint while the block lasts.

        Raises:
            RunError: another one is at it, or the folder cannot be made.
        """
        folder = self.folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = held(folder / LOCK)
            had = lock.__enter__()
        except OSError as error:
            raise unusable(folder, error) from None
        try:
            if not had:
                raise RunError(
                    f"{folder}: another process trains there; wait for it, or name another folder"
                )
            yield
        finally:
            lock.__exit__(None, None, None)


class Restorable(Protocol):
    """What can be saved and brought back: a trainer."""

    def state(self) -> dict[str, Tensor]:
        """Return all that training has changed."""

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go on from such a state."""


class Checkpoint:
    """The checkpoint of one training.

    Args:
        plan: where, how often, and whether to resume.
        of: what the training is made of.

    Raises:
        RunError: the folder cannot be used, or holds the checkpoint of another training.
    """

    def __init__(self, plan: Checkpointing, of: Fingerprint) -> None:
        self.plan, self.of = plan, of
        self.parts = self._found() if plan.resume else 0
        self.cores: int | None = self._read_header(0)["cores"] if self.parts else None

    def _found(self) -> int:
        """Return the number of workers whose files are to be there; 0 without a checkpoint."""
        if not self._file(0).exists():
            return 0
        header = self._read_header(0)
        self._check_content(0)
        if header["of"] != self.of:
            raise RunError(
                f"{self.plan.folder}: the checkpoint of another training, differing in "
                f"{differing(header['of'], self.of)}; change that back, or begin without resuming"
            )
        parts = int(header["parts"])
        for part in range(1, parts):
            if self._file(part).exists():
                self._check_content(part)
        return parts

    def threads(self, wanted: int | None) -> int | None:
        """Return the number of threads to train with: that of the checkpoint, where there is one.

        Another number would share out the runs otherwise, and add in another order.
        """
        if self.cores is not None and wanted not in (None, self.cores):
            raise RunError(
                f"{self.plan.folder}: begun with {self.cores} threads, not {wanted}; "
                f"resume with {self.cores}, or leave the number out"
            )
        return wanted if self.cores is None else self.cores

    def start(self, parts: int, cores: int) -> None:
        """Make the folder ready for a training by so many workers; a new one empties it first."""
        folder = self.plan.folder
        if self.parts not in (0, parts):
            raise RunError(
                f"{folder}: a checkpoint of {self.parts} workers, where {parts} are to go on; "
                "begin without resuming"
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            remove_stale(folder)
            # In this order a kill leaves no part behind that a later resume could mistake.
            stale = sorted(folder.glob(_PART.format("*"))) if self.parts != parts else []
            for file in stale:
                file.unlink()
        except OSError as error:
            raise unusable(folder, error) from None
        self.parts, self.cores = parts, cores

    def keeper(self, part: int) -> Keeper:
        """Return what saves the trainer of one worker."""
        header = {"format": FORMAT, "of": self.of, "parts": self.parts, "cores": self.cores}
        return Keeper(self._file(part), header, self.plan.every)

    def state(self, part: int, device: torch.device) -> dict[str, Tensor] | None:
        """Return where the trainer of one worker stood, or None when it had not begun."""
        path = self._file(part)
        if not self.plan.resume or not path.exists():
            return None
        with _opened(path) as file:
            # Copied out of the file's memory map: alignment must be that of a tensor of PyTorch.
            names = list(file.keys())
            return {name: file.get_tensor(name).to(device, copy=True) for name in names}

    def _check_content(self, part: int) -> None:
        """Refuse a file that is not as it was written, or of another training than part 0."""
        path = self._file(part)
        with _opened(path) as file:
            told = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in list(file.keys())}
        if told.get("sha256") != digest_of(told.get("ppro", ""), tensors):
            raise RunError(f"{path}: damaged, its checksum differs; begin without resuming")
        if part and self._read_header(part) != self._read_header(0):
            raise RunError(f"{path}: of another training than the first part; begin anew")

    def restore(self, trainer: Restorable, state: dict[str, Tensor]) -> None:
        """Bring a trainer to where the checkpoint was taken.

        Raises:
            RunError: the tensors are not those of such a trainer.
        """
        wanted = trainer.state()
        fits = state.keys() == wanted.keys() and all(
            tensor.dtype == wanted[name].dtype and tensor.dim() == wanted[name].dim()
            for name, tensor in state.items()
        )
        try:
            if not fits:
                raise ValueError
            trainer.restore(state)
        except (ValueError, IndexError, RuntimeError):
            raise RunError(
                f"{self.plan.folder}: its tensors are not those of this training; begin without "
                "resuming"
            ) from None

    def _file(self, part: int) -> Path:
        return self.plan.folder / _PART.format(part)

    def _read_header(self, part: int) -> dict[str, Any]:
        path = self._file(part)
        with _opened(path) as file:
            text = (file.metadata() or {}).get("ppro", "{}")
        try:
            header = json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            header = None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            found = header.get("format") if isinstance(header, dict) else "unknown"
            raise RunError(
                f"{path}: format {found}, but this version reads format {FORMAT}; "
                "begin without resuming, or use the version of ppro that wrote it"
            )
        numbers = [header.get(key) for key in ("parts", "cores")]
        made_of = header.get("of")
        if not isinstance(made_of, dict) or not all(
            type(number) is int and 0 < number <= MOST_CORES for number in numbers
        ):
            raise RunError(f"{path}: damaged, its head is incomplete; begin without resuming")
        return header


class Keeper:
    """Writes the checkpoint of one trainer, at most every so many seconds."""

    def __init__(self, path: Path, header: Mapping[str, Any], every: float) -> None:
        self.path, self.every = path, every
        self.header = json.dumps(header)
        self._last, self._warned = -float("inf"), False

    def offer(self, state: Callable[[], dict[str, Tensor]]) -> None:
        """Save the state if it is time; it is asked for only then."""
        if time.monotonic() - self._last >= self.every:
            self.save(state())

    def save(self, state: Mapping[str, Tensor]) -> None:
        """Save the state now.

        Where it cannot be written, the checkpoint before it stays, and the training goes on after
        one warning.

        Raises:
            RunError: it cannot be written, and there is none before it.
        """
        tensors = {name: tensor.cpu().contiguous() for name, tensor in state.items()}
        head = {"ppro": self.header, "sha256": digest_of(self.header, tensors)}
        try:
            write_durably(self.path, save(tensors, metadata=head))
        except OSError as error:
            told = unusable(self.path.parent, error)
            if not self.path.exists():
                raise told from None
            if not self._warned:
                logger.warning("%s (training goes on; the checkpoint before stays)", told)
            self._warned = True
        self._last = time.monotonic()


def write_durably(path: Path, content: bytes) -> None:
    """Write a file that is either there as a whole or not at all, even after a power failure."""
    with whole_file(path) as part:
        part.write_bytes(content)


def digest_of(header: str, tensors: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 of what a file says: its head, and names, types, shapes and values."""
    digest = hashlib.sha256(header.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name}{tensor.dtype}{tuple(tensor.shape)}".encode())
        flat = tensor.reshape(-1)
        if flat.numel() and flat.stride(0) != 1:
            # A tensor of one element may have any stride, which a view as bytes does not take.
            flat = flat.clone(memory_format=torch.contiguous_format)
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _opened(path: Path) -> Any:
    try:
        check_regular(path)
        return safe_open(str(path), framework="pt")
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: cannot be read ({error}); begin without resuming") from None


def has_checkpoint(folder: Path) -> bool:
    """Tell whether a folder holds a checkpoint."""
    return (folder / _PART.format(0)).exists()


def unusable(folder: Path, error: OSError) -> RunError:
    """Return the error to raise when a folder cannot take a checkpoint."""
    reason = error.strerror or str(error)
    return RunError(
        f"{folder}: no checkpoint can be written there ({reason}); make room or name another folder"
    )
