"""Locks that a PostgreSQL server keeps: as many machines as reach it may share a study."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

# A machine that vanishes without a word is noticed by the server after a minute.
_KEEP_ALIVE = (
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
)


class PostgresGuard:
    """Advisory locks of one connection; the server frees them when the connection ends.

    The connection must be one to the server itself: a pool in between that hands connections on
    between transactions (as pgbouncer may) would keep the locks of workers that have ended.
    """

    def __init__(self, url: str) -> None:
        self._engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        self._own: set[str] = set()
        self._connection = self._connected()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """A context that one worker at a time is in."""
        self._revive()
        key = _key("claims")
        self._ask("SELECT pg_advisory_lock(:key)", key)
        try:
            yield
        finally:
            self._ask("SELECT pg_advisory_unlock(:key)", key)

    def show_life(self, worker: str) -> None:
        """Hold the lock of a worker from now on; again where the connection was lost."""
        self._revive()
        if worker not in self._own:
            self._ask("SELECT pg_advisory_lock(:key)", _key(worker))
            self._own.add(worker)

    def is_alive(self, worker: str) -> bool:
        """Tell whether a worker still holds its lock."""
        if worker in self._own:
            return True
        free = self._ask("SELECT pg_try_advisory_lock(:key)", _key(worker))
        if free:
            self._ask("SELECT pg_advisory_unlock(:key)", _key(worker))
        return not free

    def close(self) -> None:
        """Let go of everything."""
        self._connection.close()
        self._engine.dispose()

    def _ask(self, question: str, key: int) -> bool:
        return bool(self._connection.execute(text(question), {"key": key}).scalar())

    def _connected(self) -> Connection:
        connection = self._engine.connect()
        for statement in _KEEP_ALIVE:
            connection.execute(text(statement))
        return connection

    def _revive(self) -> None:
        """Connect again where the connection was lost, with the locks that were lost with it."""
        try:
            self._connection.execute(text("SELECT 1"))
        except DBAPIError:
            self._connection.invalidate()
            self._connection.close()
            self._connection = self._connected()
            for worker in self._own:
                self._ask("SELECT pg_advisory_lock(:key)", _key(worker))


def _key(name: str) -> int:
    """Return a number for a lock's name, as the server wants it: 64 bits with a sign."""
    digest = hashlib.sha256(f"ppro tune {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
