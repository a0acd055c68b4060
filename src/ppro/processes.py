"""Child processes that run nothing but what they were started for.

Python puts the folder it is started in first on its path: a ``pip.py`` lying there would run in the
place of pip. Every child therefore starts with ``-P`` (and what it starts itself, by
``PYTHONSAFEPATH``), in a folder of its own. Nothing else in the package starts a process, but the
pool of experiments, which does so inside :func:`safe_path`.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SAFE_PATH = "PYTHONSAFEPATH"
_FOLDERS = ("PPRO_DATA", "PPRO_CACHE")
"""Variables that name a folder, perhaps as seen from the folder of the user."""


def module_command(module: str, *words: str) -> list[str]:
    """Return the words that start a module in a process of its own."""
    return [sys.executable, "-P", "-m", module, *words]


def child_environment(more: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the environment of a child: this one, which holds in any folder, and more."""
    values = {**os.environ, **{key: str(value) for key, value in (more or {}).items()}}
    for name in _FOLDERS:
        if values.get(name):
            values[name] = str(Path(values[name]).expanduser().absolute())
    # An empty entry stands for the folder that a process is started in.
    path = [str(Path(p).absolute()) for p in values.get("PYTHONPATH", "").split(os.pathsep) if p]
    return {**values, "PYTHONPATH": os.pathsep.join(path), SAFE_PATH: "1"}


def run_module(
    module: str, words: Sequence[str], *, env: Mapping[str, Any] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a module to its end, in a private folder that is removed afterwards.

    Args:
        words: its arguments; paths among them must be absolute.
        env: variables beside those of this process.
        options: of :func:`subprocess.run`.
    """
    with tempfile.TemporaryDirectory(prefix="ppro-") as folder:
        return subprocess.run(
            module_command(module, *words),
            cwd=folder,
            env=child_environment(env),
            text=True,
            check=False,
            **options,
        )


def start_module(
    module: str, words: Sequence[str], folder: Path, *, env: Mapping[str, Any] | None = None
) -> subprocess.Popen[bytes]:
    """Start a module in a private folder of the caller's, and do not wait for it."""
    command = module_command(module, *words)
    return subprocess.Popen(command, cwd=folder, env=child_environment(env))


@contextmanager
def safe_path() -> Iterator[None]:
    """Let every process that is started inside leave the folder of the user off its path."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SAFE_PATH, None)
        else:
            os.environ[SAFE_PATH] = before
