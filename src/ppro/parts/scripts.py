"""Scripts of a user, run so that the parts they define are known by their names."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from ppro.errors import PProError, SettingsError

_LOADED: list[str] = []


def load_scripts(paths: Sequence[str | Path]) -> None:
    """Run scripts, each once, as ``python FILE`` would.

    Raises:
        SettingsError: a file is missing, is no Python, or raises an error.
    """
    for path in paths:
        place = str(Path(path).absolute())
        if place not in _LOADED:
            _run(Path(place), str(path))
            _LOADED.append(place)


def loaded() -> list[str]:
    """Return the absolute paths of the scripts that have run.

    Whoever starts a process gives it this list, and the process calls :func:`load_scripts` first.
    """
    return list(_LOADED)


def _run(path: Path, told: str) -> None:
    if not path.is_file():
        raise SettingsError(f"--load {told}: no such file; name a Python script")
    # A module name of its own, the same in every process: pickled objects name it.
    name = f"ppro_script_{path.stem}_{zlib.crc32(str(path).encode()):08x}"
    spec = spec_from_file_location(name, path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise SettingsError(f"--load {told}: not a Python script; its name must end in .py")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        text = " ".join(str(error).split())
        kind = "" if isinstance(error, PProError) else f"{type(error).__name__}: "
        raise SettingsError(f"--load {told}: {kind}{text}; mend the script") from error
