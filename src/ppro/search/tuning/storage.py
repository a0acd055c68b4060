"""Where a study is kept: a journal file, PostgreSQL, or SQLite."""

import warnings
from dataclasses import dataclass
from pathlib import Path

from optuna.storages import BaseStorage, RDBStorage
from sqlalchemy.exc import SQLAlchemyError

from ppro.errors import RunError, SettingsError
from ppro.search.tuning.guards import FileGuard, Guard
from ppro.search.tuning.journal import open_journal
from ppro.search.tuning.postgres import PostgresGuard

POSTGRES = "postgresql+psycopg"
FORMS = (
    "a journal file, postgresql://user:password@host/database, or sqlite:///file.db on one machine"
)


@dataclass(frozen=True)
class StudyPlace:
    """An open storage, the locks that its workers share, and what to warn of."""

    storage: BaseStorage
    guard: Guard
    warning: str = ""


def open_place(where: str) -> StudyPlace:
    """Open a storage, make it where there is none.

    Args:
        where: the path of a journal file, or the URL of a database.

    Raises:
        SettingsError: the URL is none that we know.
        RunError: the storage cannot be opened.
    """
    scheme, sign, rest = where.partition("://")
    try:
        if not sign:
            path = Path(where)
            return StudyPlace(open_journal(path), FileGuard(path.with_suffix(".workers")))
        if scheme == "sqlite":
            return _sqlite(where, rest)
        if scheme in ("postgres", "postgresql", POSTGRES):
            return _postgres(f"{POSTGRES}://{rest}")
    except OSError as error:
        reason = f"cannot be written to ({error.strerror})"
        raise RunError(f"--storage {where}: {reason}; choose another place") from None
    raise SettingsError(f"--storage {scheme}://…: unknown; use {FORMS}")


def _sqlite(url: str, rest: str) -> StudyPlace:
    # Three slashes and a relative path, or four and an absolute one.
    path = Path(rest.removeprefix("/"))
    if not path.name:
        raise SettingsError(f"--storage {url}: no file; use {FORMS}")
    path.absolute().parent.mkdir(parents=True, exist_ok=True)
    guard = FileGuard(path.with_suffix(".workers"))
    warning = (
        "SQLite lets one worker write at a time and not over a network file system; "
        "for many workers leave --storage out or use PostgreSQL"
    )
    return StudyPlace(_database(url, guard), guard, warning)


def _postgres(url: str) -> StudyPlace:
    try:
        guard = PostgresGuard(url)
    except ImportError as error:
        raise SettingsError(
            f"--storage postgresql://…: {error.name} is missing; pip install 'ppro[postgres]'"
        ) from None
    except (SQLAlchemyError, ValueError) as error:
        remedy = "check the URL, and that the server runs"
        raise RunError(f"--storage: {first_line(error)}; {remedy}") from None
    return StudyPlace(_database(url, guard), guard)


def _database(url: str, guard: Guard) -> RDBStorage:
    # Workers that begin together must not make the tables at the same time.
    with guard.exclusive(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return RDBStorage(url)
        except RuntimeError as error:
            raise RunError(f"--storage: {first_line(error)}; use another database") from None


def first_line(error: Exception) -> str:
    """Return the first line of an error: later ones of SQLAlchemy may repeat the URL."""
    return str(error).splitlines()[0].strip()
