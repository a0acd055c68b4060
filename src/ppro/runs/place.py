"""Where ``ppro train`` saves a training while it runs, and finds it again for ``--resume``.

The checkpoint of ``runs/NAME`` is the folder ``runs/.NAME.checkpoint``. Making that folder claims
the name, so trainings begun at the same time do not meet. It is removed once the run is written;
what is left of a training that was stopped is never overwritten.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ppro.errors import RunError, TrainingError
from ppro.files import HIDDEN, as_name, free_name, is_taken, make_folders, numbered, remove_empty
from ppro.runs.config import RunConfig, read_config, write_config
from ppro.runs.writing import check_writable
from ppro.settings.settings import PPRO
from ppro.training.checkpoint import has_checkpoint, unusable


@dataclass
class Place:
    """The folders of a training.

    Args:
        out: where the run is to be written.
        checkpoint: where it is saved until then.
        begun: whether there is something to go on from; until then an error leaves nothing.
        note: what the user should know of another training, if anything.
    """

    out: Path
    checkpoint: Path
    begun: bool = False
    note: str = ""

    def free_out(self) -> Path:
        """``out``, or beside it where that is taken."""
        named = _named(self.out)
        return free_name(named.parent, named.name) if is_taken(self.out) else self.out

    def forget(self) -> None:
        """Remove the checkpoint."""
        shutil.rmtree(self.checkpoint, ignore_errors=True)


@contextmanager
def place_of_training(
    out: Path | None, runs: Path, config: RunConfig, *, resume: bool
) -> Iterator[Place]:
    """Hold the folders of a training, for as long as it takes.

    Args:
        out: the folder that the user named, or None.
        runs: where the run lies then, named by graph and method, with a number behind the name
            where it is not free.
        config: what is trained; tells the checkpoints of several trainings apart.
        resume: go on from the checkpoint of a training that was stopped.

    Raises:
        RunError: the folder is taken or cannot be written to, or there is nothing to resume.
    """
    settings = config.settings
    method = settings.strategy if settings.model == PPRO else settings.model
    usual = runs / as_name(f"{config.dataset}-{method}")
    if resume:
        stopped = _stopped(out, usual, config)
        try:
            yield stopped
        except TrainingError:
            stopped.forget()
            raise
        return
    check_writable(out or free_name(usual.parent, usual.name))
    made = make_folders((out or usual).absolute().parent)
    place = None
    try:
        place = _claim(out) if out else _claim_numbered(usual)
        _write_config(place.checkpoint, config)
        yield place
    except BaseException as error:
        # To go on with losses that are no numbers is of no use.
        if place is not None and (not place.begun or isinstance(error, TrainingError)):
            place.forget()
        remove_empty(made)
        raise


def checkpoint_of(out: Path) -> Path:
    """Return the folder for the checkpoint of a run: beside it.

    In a folder that exists already it lies inside: that may be a mount point in a place where
    nothing else can be written.
    """
    beside = _named(out).with_name(f".{_named(out).name}.checkpoint")
    inside = out / f"{HIDDEN}checkpoint"
    return inside if out.is_dir() and not beside.exists() else beside


def _named(out: Path) -> Path:
    """Return a path that ends in a name; the current folder, '.', has none."""
    return out if out.name else out.absolute()


class _TakenError(RunError):
    """Another training has claimed the name."""


def _claim(out: Path) -> Place:
    folder = checkpoint_of(out)
    try:
        folder.mkdir()
    except FileExistsError:
        raise _TakenError(
            f"{out}: a training was stopped there, or still runs; add --resume to go on with it, "
            f"choose another --out, or remove {folder}"
        ) from None
    except OSError as error:
        raise unusable(folder, error) from None
    return Place(out, folder)


def _claim_numbered(usual: Path) -> Place:
    """Return the first of name, name-2 … with neither a run nor a checkpoint."""
    free = (out for out in numbered(usual) if not os.path.lexists(out))
    note = ""
    while True:
        out = next(free)
        try:
            place = _claim(out)
        except _TakenError:
            note = note or f"{out} was stopped, or still runs; --resume goes on with it"
        else:
            place.note = note
            return place


def _write_config(folder: Path, config: RunConfig) -> None:
    try:
        write_config(folder, config)
    except OSError as error:
        raise unusable(folder, error) from None


def _stopped(out: Path | None, usual: Path, config: RunConfig) -> Place:
    """Return the training to go on with: the newest of the same settings, else the newest."""
    places = [Place(out, checkpoint_of(out))] if out else list(_claimed(usual))
    found = [place for place in places if has_checkpoint(place.checkpoint)]
    if not found:
        raise RunError(
            f"{out or usual}: no checkpoint to resume; begin without --resume, or name the folder "
            "of the training with --out"
        )
    place = max(found, key=lambda place: (_is_of(place, config), _age(place)))
    place.begun = True
    check_writable(place.free_out())
    return place


def _claimed(usual: Path) -> Iterator[Place]:
    pattern = re.compile(rf"\.({re.escape(usual.name)}(-\d+)?)\.checkpoint")
    for folder in sorted(usual.parent.glob(".*.checkpoint")):
        if match := pattern.fullmatch(folder.name):
            yield Place(usual.with_name(match[1]), folder)


def _is_of(place: Place, config: RunConfig) -> bool:
    try:
        return read_config(place.checkpoint) == config
    except RunError:
        return False


def _age(place: Place) -> float:
    return place.checkpoint.stat().st_mtime
