"""Locks of the workers of a study: one at a time hands out trials, and a dead one is noticed.

A worker holds a lock for as long as it lives, and the system lets go of it when the worker ends,
however it ends. So a trial whose worker's lock is free is trained by nobody; no clock and no grace
period is involved.
"""

from __future__ import annotations

import os
import platform
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout


def new_worker() -> str:
    """A name for a worker that no other ever has."""
    host = "".join(c if c.isalnum() else "-" for c in platform.node())
    return f"{host or 'host'}-{os.getpid()}-{uuid.uuid4().hex[:12]}"


class Guard(Protocol):
    """Locks that all workers of a storage see."""

    def exclusive(self) -> AbstractContextManager[None]:
        """A context that one worker at a time is in."""

    def show_life(self, worker: str) -> None:
        """Hold the lock of a worker from now on; again where it was lost."""

    def is_alive(self, worker: str) -> bool:
        """Whether a worker still holds its lock; only inside ``exclusive``."""

    def close(self) -> None:
        """Let go of everything."""


class FileGuard:
    """Locks on files beside the storage.

    Args:
        folder: where they lie; all workers must see the same one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._own: dict[str, FileLock] = {}

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """A context that one worker at a time is in."""
        with FileLock(self.folder / "claims.lock"):
            yield

    def show_life(self, worker: str) -> None:
        """Hold the lock of a worker from now on."""
        if worker not in self._own:
            lock = FileLock(self._path(worker))
            lock.acquire(timeout=0)
            self._own[worker] = lock

    def is_alive(self, worker: str) -> bool:
        """Whether a worker still holds its lock; the file of a dead one is removed."""
        if worker in self._own:
            return True
        path = self._path(worker)
        if not path.exists():
            return False
        try:
            with FileLock(path, timeout=0):
                pass
        except Timeout:
            return True
        path.unlink(missing_ok=True)
        return False

    def close(self) -> None:
        """Let go of the locks of this process and remove their files."""
        for worker, lock in self._own.items():
            lock.release()
            self._path(worker).unlink(missing_ok=True)
        self._own.clear()

    def _path(self, worker: str) -> Path:
        return self.folder / f"{worker}.worker"
