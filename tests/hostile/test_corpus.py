"""A sample of the corpus; ``make hostile`` runs all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.corpus import cases, write_seeds
from tests.hostile.running import run

EVERY = 5
"""Of this many cases one is run with the tests."""


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seeds")
    write_seeds(folder)
    return folder


def test_the_corpus_is_as_large_as_the_page_says(seeds: Path) -> None:
    found = list(cases(seeds))
    assert len(found) >= 600
    assert len({(case.group, case.name) for case in found}) == len(found)


def test_a_sample_ends_well_or_in_one_line(seeds: Path, tmp_path: Path) -> None:
    for number, case in enumerate(list(cases(seeds, seed=7, each=3, settings=1))[::EVERY]):
        ended = run(case, tmp_path / str(number))
        assert not ended.problem, f"{case.group}: {case.name}: {ended.problem}\n{ended.err}"


def test_the_same_seed_makes_the_same_files(seeds: Path, tmp_path: Path) -> None:
    for number, (one, other) in enumerate(
        zip(cases(seeds, each=2), cases(seeds, each=2), strict=True)
    ):
        if number % 9:
            continue
        made = []
        for name, case in (("a", one), ("b", other)):
            folder = tmp_path / f"{number}{name}"
            folder.mkdir()
            words = case.make(folder)
            files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
            made.append((words, [p.read_bytes() for p in files]))
        assert made[0] == made[1]
