"""What the package never does, read from its syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ppro

PACKAGE = Path(ppro.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
# The reader of Planetoid's files: an unpickler that builds what it knows and refuses all else.
RESTRICTED = PACKAGE / "data" / "readers" / "pickles.py"

MODULES = {"pickle", "_pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen"}
FORBIDDEN_OPTIONS = {"allow_pickle": True, "verify": False, "shell": True, "weights_only": False}
SAFE_ONLY_WITH = {"torch.load": ("weights_only", True)}


def violations(source: str) -> list[str]:
    """What is forbidden in a piece of code, as ``line: what``."""
    tree = ast.parse(source)
    aliases = _aliases(tree)
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found += [(node.lineno, f"import {m}") for m in _modules(node) if m in MODULES]
        elif isinstance(node, ast.Call):
            found += [(node.lineno, what) for what in _in_call(node, aliases)]
    return [f"{line}: {what}" for line, what in sorted(found)]


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    names = (
        [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
    )
    return [name.split(".")[0] for name in names]


def _aliases(tree: ast.AST) -> dict[str, str]:
    """What local names stand for: ``from torch import load as l`` makes l torch.load."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            names |= {a.asname: a.name for a in node.names if a.asname}
    return names


def _in_call(call: ast.Call, aliases: dict[str, str]) -> Iterator[str]:
    name = _dotted(call.func)
    first, _, rest = name.partition(".")
    full = ".".join(part for part in (aliases.get(first, first), rest) if part)
    options = {option.arg: option.value for option in call.keywords if option.arg}
    if full.removeprefix("builtins.") in CALLS:
        yield full
    if full in SAFE_ONLY_WITH:
        option, needed = SAFE_ONLY_WITH[full]
        if not _is(options.get(option), needed):
            yield f"{full} without {option}={needed}"
    if full == "importlib.import_module" and call.args:
        named = call.args[0]
        if isinstance(named, ast.Constant) and str(named.value).split(".")[0] in MODULES:
            yield f"import {named.value!s}"
    for option, value in options.items():
        forbidden = FORBIDDEN_OPTIONS.get(option)
        if forbidden is not None and _is(value, forbidden):
            yield f"{option}={forbidden}"


def _is(node: ast.expr | None, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def test_there_is_something_to_check() -> None:
    assert len(FILES) > 40
    assert RESTRICTED in FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_package_executes_nothing_that_it_reads(path: Path) -> None:
    found = violations(path.read_text(encoding="utf-8"))
    if path == RESTRICTED:
        found = [what for what in found if not what.endswith("import pickle")]
    assert found == []


def test_the_one_unpickler_refuses_what_it_does_not_know() -> None:
    """It may import pickle for one purpose: a subclass whose find_class decides."""
    tree = ast.parse(RESTRICTED.read_text(encoding="utf-8"))
    used = {_dotted(n) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    assert {name for name in used if name.startswith("pickle.")} <= {
        "pickle.Unpickler",
        "pickle.UnpicklingError",
    }
    subclasses = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and "pickle.Unpickler" in map(_dotted, node.bases)
    ]
    assert len(subclasses) == 1
    methods = {n.name for n in subclasses[0].body if isinstance(n, ast.FunctionDef)}
    assert "find_class" in methods
    calls = [_dotted(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)]
    assert "pickle.Unpickler" not in calls


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import pickle", "import pickle"),
        ("import joblib.memory as m", "import joblib"),
        ("from shelve import open", "import shelve"),
        ("import torch\ntorch.load(f)", "torch.load without weights_only=True"),
        ("from torch import load as l\nl(f)", "torch.load without weights_only=True"),
        ("import torch as t\nt.load(f, weights_only=False)", "weights_only=False"),
        ("import numpy as np\nnp.load(f, allow_pickle=True)", "allow_pickle=True"),
        ("get(url, verify=False)", "verify=False"),
        ("run(x, shell=True)", "shell=True"),
        ("eval('1')", "eval"),
        ("import builtins\nbuiltins.exec('1')", "exec"),
        ("import os\nos.system('ls')", "os.system"),
        ("import importlib\nimportlib.import_module('dill')", "import dill"),
        ("__import__('pickle')", "__import__"),
    ],
)
def test_the_check_sees_what_it_looks_for(code: str, what: str) -> None:
    assert any(what in found for found in violations(code))


@pytest.mark.parametrize(
    "code",
    ["model.eval()", "re.compile('x')", "torch.load(f, weights_only=True)", "np.load(f)", "x = 1"],
)
def test_the_check_leaves_the_rest_alone(code: str) -> None:
    assert violations(code) == []
