"""A real PostgreSQL server for the time of a test, where one is installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path


class NoServerError(Exception):
    """Why there is no server."""


class PostgresServer:
    """A server in a temporary folder, reached through a socket in it.

    Raises:
        NoServerError: PostgreSQL is not installed, or there is no user that may run it.
    """

    def __init__(self) -> None:
        self._bin = _programs()
        self._as_user = _unprivileged()
        self._numbers = count()
        self.folder = Path(tempfile.mkdtemp(prefix="ppro-pg-"))
        if self._as_user:
            user = pwd.getpwnam(self._as_user[-1])
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        data = self.folder / "data"
        self._run("initdb", "-D", str(data), "-U", "ppro", "-A", "trust", "--no-sync")
        options = f"-c listen_addresses='' -c fsync=off -k {self.folder}"
        log = self.folder / "log"
        self._run("pg_ctl", "-D", str(data), "-w", "-l", str(log), "-o", options, "start")

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"study{next(self._numbers)}"
        self._run("createdb", "-h", str(self.folder), "-U", "ppro", name)
        return f"postgresql://ppro@/{name}?host={self.folder}"

    def stop(self) -> None:
        """End the server and remove everything."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: str) -> None:
        command = [str(self._bin / program), *words]
        if self._as_user:
            command = ["setpriv", "--clear-groups", f"--reuid={self._as_user[-1]}", *command]
        # Files instead of pipes: the server would keep a pipe open for as long as it runs.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(command, stdout=output, stderr=output, cwd="/")
            output.seek(0)
            assert done.returncode == 0, output.read().decode(errors="replace")


def _programs() -> Path:
    found = shutil.which("initdb")
    if found and shutil.which("pg_ctl"):
        return Path(found).resolve().parent
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    raise NoServerError("no PostgreSQL server is installed: initdb was not found")


def _unprivileged() -> tuple[str, ...]:
    """The user to run the server as where we are root, whom it refuses; else nothing."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv"):
        for name in ("postgres", "nobody"):
            try:
                pwd.getpwnam(name)
            except KeyError:
                continue
            return (name,)
    raise NoServerError("PostgreSQL does not run as root, and there is no user to run it as")
