"""Where ``ppro train`` keeps its checkpoint and its result, and finds them for ``--resume``.

The checkpoint of ``runs/NAME`` is the folder ``runs/.NAME.checkpoint``. Making that folder and
holding its lock claims the name, so trainings begun at the same time do not meet. It is removed
once the run is written and on the disk; what is left of a training that was stopped is never
overwritten, and what one left that was killed before it had saved anything is taken over.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ppro.errors import Interrupted, RunError, TrainingError
from ppro.files import (
    HIDDEN,
    as_name,
    free_name,
    held,
    is_taken,
    make_folders,
    numbered,
    remove_empty,
)
from ppro.runs.config import RunConfig, read_config, write_config
from ppro.runs.writing import check_writable, is_interim
from ppro.settings.settings import PPRO
from ppro.training.checkpoint import has_checkpoint, unusable

CLAIM = f"{HIDDEN}claim"
"""The file in the folder of a checkpoint that is locked while the training lasts."""


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
    lock: ExitStack = field(default_factory=ExitStack, repr=False)

    def free_out(self) -> Path:
        """``out``, where the run of an interrupted training is replaced; beside what else is there.

        Only what came to stand there after the training had begun makes it go elsewhere.
        """
        if not is_taken(self.out) or is_interim(self.out):
            return self.out
        named = _named(self.out)
        return free_name(named.parent, named.name)

    def forget(self) -> None:
        """Remove the checkpoint."""
        shutil.rmtree(self.checkpoint, ignore_errors=True)

    def claim(self) -> bool:
        """Hold the checkpoint against other processes; tells whether it was free."""
        try:
            had = self.lock.enter_context(held(self.checkpoint / CLAIM))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise unusable(self.checkpoint, error) from None
        return had

    def interrupted(self) -> Interrupted:
        """Return what to tell after Ctrl-C: what is kept, and how to go on."""
        if has_checkpoint(self.checkpoint):
            return Interrupted(
                f"interrupted: the last checkpoint is kept in {self.checkpoint}; the same command "
                "with --resume goes on from it"
            )
        if self.begun and is_taken(self.out):
            return Interrupted(f"interrupted: the run is saved in {self.out}")
        return Interrupted()


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
    made: list[Path] = []
    place = None
    try:
        if resume:
            place = _stopped(out, usual, config)
        else:
            check_writable(out or free_name(usual.parent, usual.name))
            made = make_folders((out or usual).absolute().parent)
            place = _claim(out) if out else _claim_numbered(usual)
        if not place.begun:
            _write_config(place.checkpoint, config)
        yield place
    except BaseException as error:
        # To go on with losses that are no numbers is of no use.
        if place is not None and (not place.begun or isinstance(error, TrainingError)):
            place.forget()
        remove_empty(made)
        if place is not None and isinstance(error, KeyboardInterrupt):
            raise place.interrupted() from None
        raise
    finally:
        if place is not None:
            place.lock.close()


def check_free(out: Path | None, runs: Path, name: str) -> None:
    """Refuse at once what a training could not be written to, before a search for its settings.

    Args:
        out: the folder that the user named, or None.
        runs: where the run lies then.
        name: of the graph.

    Raises:
        RunError: the folder is taken or cannot be written to, or a training was stopped there.
    """
    check_writable(out or free_name(runs, as_name(name)))
    if out and has_checkpoint(checkpoint_of(out)):
        raise _was_stopped(out)


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
    """Make the folder of a checkpoint, or take over one that a killed training left empty."""
    place = Place(out, checkpoint_of(out))
    folder = place.checkpoint
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise unusable(folder, error) from None
    if not place.claim():
        raise _TakenError(
            f"{out}: another process trains there now; wait for it, or choose another --out"
        )
    if has_checkpoint(folder):
        place.lock.close()
        raise _was_stopped(out)
    return place


def _was_stopped(out: Path) -> _TakenError:
    return _TakenError(
        f"{out}: a training was stopped there; add --resume to go on with it, choose another "
        f"--out, or remove {checkpoint_of(out)}"
    )


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
    """Return the training to go on with: the newest of the same settings, else the newest.

    One that was killed before it had saved anything begins anew, where there is no other.
    """
    places = [Place(out, checkpoint_of(out))] if out else list(_claimed(usual))
    known = [place for place in places if place.checkpoint.is_dir()]
    saved = [place for place in known if has_checkpoint(place.checkpoint)]
    if not (found := saved or [place for place in known if _is_of(place, config)]):
        raise RunError(
            f"{out or usual}: no checkpoint to resume; begin without --resume, or name the folder "
            "of the training with --out"
        )
    place = max(found, key=lambda place: (_is_of(place, config), _age(place)))
    if not place.claim():
        raise RunError(
            f"{place.out}: another process trains there now; wait for it, or stop it, before you "
            "go on with it"
        )
    place.begun = has_checkpoint(place.checkpoint)
    check_writable(place.free_out(), replacing=True)
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
