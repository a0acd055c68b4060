"""Settings, options and variables of the environment that nobody would give."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from ppro.settings.settings import all_keys
from tests.hostile.case import SMALL, TINY, Case

VALUES = (
    *("-1", "0", "1e99", "1000000000000", "9" * 5_000, "nan", "inf", "-inf", "true", "''", "x"),
    *("[]", "{}", "[[[[1]]]]", "[" * 2_000, "../..", "\x1b[2J", "", "0.5", "1", "2024-01-01"),
)
OPTIONS: dict[str, tuple[str, ...]] = {
    "--runs": ("-1", "0", "1e3", "1000000000", "x"),
    "--seed": ("-1", "2147483647", "99999999999999999999", "x"),
    "--threads": ("0", "5000", "99999999999", "x"),
    "--split": ("", "..", "0-per-class", "999999999999-per-class", "30-per-class", "given"),
    "--device": ("", "gpu", "cuda:99", "cpu:x", "meta"),
    "--strategy": ("", "..", "L2B", "\x1b[2J"),
    "--backbone": ("", "mlp", "os.system"),
    "--model": ("", "ppro.nn", "gcn"),
    "--recipe": ("", "..", "/dev/zero", "nothing.toml", "/etc/passwd"),
    "--checkpoint-every": ("-1", "nan", "inf", "0"),
    "--option": ("", "x", "nodes=", "nodes=-1", "nodes=1e30", "nodes=nan", "noise=2", "degree=inf"),
    "--out": (
        "",
        ".",
        "/dev/null",
        "/dev/full",
        "/proc/x",
        "a\0b",
        "x" * 300,
        "a/../../../../../x",
    ),
    "--live": ("", ".", "/dev/full", "/proc/x/y"),
    "--partition": ("", "metis", "x"),
    "--metric": ("", "accuracy", "__class__"),
    "--set": ("", "=", "x", "=1", "hidden", "__class__=1", "hidden=4\n", "hidden ==4"),
}
ENVIRONMENT: dict[str, tuple[str, ...]] = {
    "PPRO_DATA": ("", "nothing", "/dev/null", "/proc", "\x1b[2J", "x" * 5_000),
    "PPRO_CACHE": ("", "/dev/null", "/proc/x", "relative", "x" * 5_000),
    "OMP_NUM_THREADS": ("", "0", "-1", "x", "4,3", "99999999999", "²"),
    "RANK": ("", "x", "-1", "1"),
    "WORLD_SIZE": ("", "x", "-1", "0", "1"),
    "COLUMNS": ("", "0", "-5", "x", "99999999999"),
    "TERM": ("", "dumb", "x"),
    "LANG": ("C", "xx_YY.nothing"),
    "PYTHONIOENCODING": ("ascii", "latin-1"),
    "HOME": ("", "/nothing"),
    "TMPDIR": ("/nothing",),
    "LOCAL_WORLD_SIZE": ("x",),
}


def cases(seed: int, each: int) -> Iterator[Case]:
    """Yield commands with every setting, option and variable at values nobody expects."""
    for key in all_keys():
        chance = random.Random(f"{seed}-{key}")
        for value in chance.sample(VALUES, each):
            yield Case("settings", f"{key}={value[:20]}", _train("--set", f"{key}={value}"))
    for option, values in OPTIONS.items():
        for value in values:
            if "\0" not in value:
                yield Case("options", f"{option} {value[:20]!r}", _train(option, value))
    for name in ("..", ".", "a/b", "", "a\nb", "\x1b", "x" * 300):
        words = ("tune", *SMALL, "--trials", "1", "--seeds", "1", "--set", "epochs=1")
        yield Case("options", f"--study {name[:20]!r}", _fixed(*words, "--study", name))
    for name, values in ENVIRONMENT.items():
        for value in values:
            rank = {"RANK": "0"} if name == "WORLD_SIZE" else {}
            yield Case("environment", f"{name}={value[:20]!r}", _train(), {**rank, name: value})


def _train(*words: str) -> _Fixed:
    return _Fixed("train", *SMALL, *TINY, *words)


class _Fixed:
    """A command that needs nothing in its folder."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def __call__(self, folder: Path) -> tuple[str, ...]:
        return self.words


_fixed = _Fixed
