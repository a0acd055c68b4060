"""The rooms of the house: which may import from which, and that each names its modules."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "ppro"
ROOMS = (
    *("errors", "files", "processes", "parts", "compute", "graph", "data", "settings"),
    *("nn", "training", "distributed", "search", "runs", "insight", "paper", "cli"),
)
"""Every room may import from those before it and from itself, and from no other."""
DOORS = ("__init__", "__main__")
"""What stands outside the order: the package's own names, and the start of the command line."""


def _modules() -> Iterator[Path]:
    return (path for path in sorted(PACKAGE.rglob("*.py")))


def _name(path: Path) -> str:
    parts = ["ppro", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def _imports(tree: ast.AST, module: str, path: Path) -> Iterator[tuple[int, str]]:
    """Every imported module of the package: at the top, inside functions, for types alone."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            found = importlib.util.resolve_name(relative, package) if node.level else relative
            for alias in node.names:
                inside = f"{found}.{alias.name}"
                place = PACKAGE.joinpath(*inside.split(".")[1:])
                is_module = place.with_suffix(".py").exists() or place.is_dir()
                yield node.lineno, inside if is_module else found
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # Names handed to import_module, patch and the like.
            text = node.value
            if text.startswith("ppro.") and text.replace(".", "").replace("_", "").isalnum():
                yield node.lineno, text


def _reaches() -> list[str]:
    wrong = []
    for path in _modules():
        module = _name(path)
        here = _room(module)
        if here in DOORS:
            continue
        for line, target in _imports(ast.parse(path.read_text(encoding="utf-8")), module, path):
            if target != "ppro" and not target.startswith("ppro."):
                continue
            there = _room(target)
            if there in DOORS or there not in ROOMS or ROOMS.index(there) > ROOMS.index(here):
                wrong.append(f"{path.relative_to(PACKAGE)}:{line} imports {target}")
    return wrong


def test_no_room_reaches_against_the_order() -> None:
    assert _reaches() == []


def test_the_hall_holds_rooms_alone() -> None:
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert found - {"__pycache__"} == {*ROOMS, *DOORS}


@pytest.mark.parametrize(
    "folder", sorted({p.parent for p in PACKAGE.rglob("*.py")} - {PACKAGE}), ids=lambda p: p.name
)
def test_a_room_names_its_modules(folder: Path) -> None:
    door = folder / "__init__.py"
    assert door.exists()
    told = ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))) or ""
    inside = {p.stem for p in folder.glob("*.py") if p.stem != "__init__"}
    inside |= {p.name for p in folder.iterdir() if p.is_dir() and list(p.glob("*.py"))}
    assert {name for name in inside if f"``{name}``" not in told} == set()
