"""What PPro itself saves, spoiled: run folders, checkpoints, recipes, journals, the cache."""

from __future__ import annotations

import json
import os
import random
import shutil
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import tomli_w

from tests.hostile.case import LOAD, SMALL, TINY, Case
from tests.hostile.mutate import spoiled_bytes, spoiled_lines, spoiled_tree

RUN = ("train", "--nodes", "nodes.csv", "--edges", "edges.csv", *TINY[:-1], "run")
CHECKPOINT = ("train", *SMALL, *TINY, "--checkpoint-every", "0")
TUNE = ("tune", *SMALL, "--trials", "1", "--seeds", "1", "--set", "epochs=2", "--study", "s")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("report", "run", "--out", "r.html"),
    ("predict", "run", "--out", "p.csv"),
    ("explain", "run", "1"),
)
SAVED = (
    *("settings.toml", "result.json", "schema.json", "metrics.jsonl"),
    *("weights.safetensors", "nodes.safetensors"),
)

OF_REPORTS = ("result.json", "metrics.jsonl")
"""Files that reports read, and predictions hardly."""


def cases(seeds: Path, seed: int, each: int) -> Iterator[Case]:
    """Yield spoiled run folders, checkpoints, recipes and journals."""
    for name in SAVED:
        for number in range(each):
            start = f"{seed}-{name}-{number}"
            yield Case(f"run: {name}", f"{number}", partial(_run, seeds, name, start))
        for what in ("pipe", "gone", "folder"):
            yield Case(f"run: {name}", what, partial(_odd, seeds, name, what))
    for number in range(each):
        start = f"{seed}-{number}"
        yield Case("checkpoint", start, partial(_checkpoint, seeds, start))
        yield Case("recipe", start, partial(_recipe, seeds, start))
    for number in range(max(2, each // 3)):
        yield Case("journal of a search", f"{number}", partial(_journal, seeds, f"{seed}-{number}"))


def _spoil(path: Path, chance: random.Random) -> None:
    if path.suffix == ".json":
        tree = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(spoiled_tree(tree, chance, (None,))), encoding="utf-8")
    elif path.suffix == ".toml" and chance.random() < 0.8:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
        path.write_bytes(tomli_w.dumps(spoiled_tree(tree, chance)).encode("utf-8", "replace"))
    elif path.suffix == ".jsonl" and chance.random() < 0.7:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        lines = (json.dumps(row) for row in spoiled_tree(rows, chance, (None,)))
        path.write_text("\n".join(lines), encoding="utf-8")
    elif path.suffix == ".csv":
        path.write_text(spoiled_lines(path.read_text(encoding="utf-8"), chance), encoding="utf-8")
    else:
        path.write_bytes(spoiled_bytes(path.read_bytes(), chance))


def _copied(seeds: Path, folder: Path) -> None:
    shutil.copytree(seeds / "run", folder / "run")
    for name in ("nodes.csv", "edges.csv"):
        shutil.copy(seeds / name, folder / name)


def _run(seeds: Path, name: str, start: str, folder: Path) -> tuple[str, ...]:
    chance = random.Random(start)
    _copied(seeds, folder)
    _spoil(folder / "run" / name, chance)
    return _command(name, chance)


def _command(name: str, chance: random.Random) -> tuple[str, ...]:
    """Return a command that reads the file."""
    if name == "nodes.safetensors":
        return (LOAD, "run")
    return COMMANDS[0] if name in OF_REPORTS else chance.choice((*COMMANDS, (LOAD, "run")))


def _odd(seeds: Path, name: str, what: str, folder: Path) -> tuple[str, ...]:
    _copied(seeds, folder)
    path = folder / "run" / name
    path.unlink()
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    return _command(name, random.Random(name))


def _checkpoint(seeds: Path, start: str, folder: Path) -> tuple[str, ...]:
    chance = random.Random(start)
    shutil.copytree(seeds / ".out.checkpoint", folder / ".out.checkpoint")
    _spoil(chance.choice(sorted((folder / ".out.checkpoint").iterdir())), chance)
    return (*CHECKPOINT, "--resume")


def _recipe(seeds: Path, start: str, folder: Path) -> tuple[str, ...]:
    shutil.copy(seeds / "recipe.toml", folder / "recipe.toml")
    _spoil(folder / "recipe.toml", random.Random(start))
    return ("train", *SMALL, *TINY, "--recipe", "recipe.toml")


def _journal(seeds: Path, start: str, folder: Path) -> tuple[str, ...]:
    shutil.copytree(seeds / "tuning", folder / "tuning")
    path = folder / "tuning" / "s.journal"
    path.write_bytes(spoiled_bytes(path.read_bytes(), random.Random(start)))
    return TUNE
