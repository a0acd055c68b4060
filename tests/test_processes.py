"""Child processes: nothing that lies in the folder of the user runs in them."""

from __future__ import annotations

import ast
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ppro
from ppro.data.package_index import download_wheel
from ppro.data.storage import Unavailable
from ppro.processes import child_environment, run_module, safe_path, start_module

PACKAGE = Path(ppro.__file__).parent
TOOLS = PACKAGE.parents[1] / "tools"
FILES = sorted([*PACKAGE.rglob("*.py"), *TOOLS.rglob("*.py")])
# The pool of experiments starts its processes inside safe_path().
ALLOWED = {
    "processes.py": {"subprocess.run", "subprocess.Popen"},
    "paper/pool.py": {"multiprocessing.get_context", "concurrent.futures.ProcessPoolExecutor"},
}
STARTING = {
    *(f"subprocess.{name}" for name in ("run", "Popen", "call", "check_call", "check_output")),
    *("subprocess.getoutput", "subprocess.getstatusoutput", "pty.spawn", "pty.fork"),
    *("multiprocessing.get_context", "multiprocessing.Process", "multiprocessing.Pool"),
    *("concurrent.futures.ProcessPoolExecutor", "torch.multiprocessing.spawn"),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
    *("os.system", "os.popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.posix_spawnp"),
}


def starts(source: str) -> set[str]:
    """Return the calls by which a piece of code starts processes."""
    tree, names = ast.parse(source), dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            names |= {a.asname: a.name for a in node.names if a.asname}
    return set(_started(tree, names))


def _started(tree: ast.AST, names: dict[str, str]) -> Iterator[str]:
    # A function that is only named, as in partial(subprocess.run, …), counts as well.
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            first, _, rest = ast.unparse(node).partition(".")
            full = ".".join(part for part in (names.get(first, first), rest) if part)
            if full in STARTING or full.startswith(("os.exec", "os.spawn")):
                yield full


def test_one_module_starts_processes() -> None:
    found = {
        path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else TOOLS.parent).as_posix(): by
        for path in FILES
        if (by := starts(path.read_text(encoding="utf-8")))
    }
    assert found == ALLOWED


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess\nsubprocess.run(['ls'])",
        "from subprocess import Popen as P\nP(['ls'])",
        "import os\nos.execv('ls', ['ls'])",
        "import functools, subprocess as s\nfunctools.partial(s.check_output, ['ls'])",
        "import multiprocessing as m\nm.get_context('spawn')",
    ],
)
def test_the_check_sees_what_it_looks_for(code: str) -> None:
    assert len(starts(code)) == 1


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with modules that leave a mark when they run."""
    folder = tmp_path / "h"
    folder.mkdir()
    for name in ("pip", "ppro", "torch", "multiprocessing", "pickle", "json", "sitecustomize"):
        mark = f"open({str(folder / 'PWNED')!r}, 'w').write({name!r})\n"
        (folder / f"{name}.py").write_text(mark, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def test_a_pip_in_the_folder_of_the_user_does_not_run(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(Unavailable, match="failed"):
        download_wheel(tmp_path)
    assert not (hostile / "PWNED").exists()


def test_a_module_is_that_of_the_installation(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f":{os.environ.get('PYTHONPATH', '')}")
    done = run_module("ppro", ["--version"], capture_output=True)
    assert (done.returncode, done.stdout[:5]) == (0, "ppro ")
    process = start_module("ppro", ["--version"], hostile.parent)
    assert process.wait() == 0
    assert not (hostile / "PWNED").exists()


def test_a_process_of_the_pool_starts_without_the_folder(hostile: Path) -> None:
    before = dict(os.environ)
    with safe_path():
        process = multiprocessing.get_context("spawn").Process(target=os.getpid)
        process.start()
        process.join()
    assert process.exitcode == 0
    assert not (hostile / "PWNED").exists()
    assert dict(os.environ) == before


def test_the_environment_of_a_child_holds_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PPRO_DATA", "raw")
    monkeypatch.setenv("PYTHONPATH", "own::/other")
    found = child_environment({"RANK": 1})
    assert found["PPRO_DATA"] == str(tmp_path / "raw")
    assert found["PYTHONPATH"] == f"{tmp_path / 'own'}:/other"
    assert found["RANK"] == found["PYTHONSAFEPATH"] == "1"


def test_a_child_has_a_private_folder(hostile: Path) -> None:
    """The attack itself works where the isolation is left out, or this file tests nothing."""
    subprocess.run([sys.executable, "-m", "pip", "--version"], check=False)
    assert (hostile / "PWNED").exists()
