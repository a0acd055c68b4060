"""The default storage: a journal file that is never left locked or half written."""

import os
from pathlib import Path
from typing import Any, cast

from filelock import FileLock
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from ppro.errors import RunError

_BEGINNING = b'{"op_code":'


class JournalLock:
    """A lock that the system frees when its holder is killed.

    Optuna's own locks are files whose existence counts: those of a killed worker stop all others
    for half a minute. Taking this one also removes a last line that was not written whole.
    """

    def __init__(self, journal: Path) -> None:
        self.journal = journal
        self._lock = FileLock(journal.with_name(f"{journal.name}.lock"))

    def acquire(self) -> bool:
        """Wait for the lock."""
        self._lock.acquire()
        cut_torn_line(self.journal)
        return True

    def release(self) -> None:
        """Let go of it."""
        self._lock.release()


def cut_torn_line(journal: Path) -> None:
    """Remove what follows the last end of a line."""
    with journal.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        if size == 0:
            return
        file.seek(size - 1)
        if file.read(1) == b"\n":
            return
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)


def open_journal(path: Path) -> JournalStorage:
    """Return a storage in a file, which is made where there is none."""
    path = path.absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    _check(path)
    lock = cast(Any, JournalLock(path))
    try:
        return JournalStorage(JournalFileBackend(str(path), lock_obj=lock))
    except (ValueError, KeyError, TypeError):
        raise RunError(
            f"{path}: a line of the journal is damaged; restore it, or begin another --study"
        ) from None


def _check(path: Path) -> None:
    """Never write to a file that is something else."""
    if not path.exists():
        return
    with path.open("rb") as file:
        start = file.read(len(_BEGINNING))
    if not _BEGINNING.startswith(start):
        raise RunError(f"{path}: not a journal of a study; choose another --storage")
