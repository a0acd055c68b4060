"""Tables by their numbers, and the space that their searches draw from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppro.cli.reproduce import BY_NUMBER, names_of_results
from tests.cli.conftest import Command


def test_a_table_has_its_number_in_the_paper_as_a_name() -> None:
    known = {name for names in names_of_results().values() for name in names}
    assert set(BY_NUMBER.values()) <= known
    assert not set(BY_NUMBER) & known


def test_the_grid_of_the_paper_has_a_folder_of_its_own(ppro: Command, workplace: Path) -> None:
    ended = ppro("reproduce", "table4", "--space", "paper", "--render-only")
    assert ended.status == 0
    assert "Table 4: depth" in ended.out
    assert "Not recorded yet." in ended.out
    assert (workplace / "results-paper" / "tables" / "depth.md").is_file()
    assert not (workplace / "results").exists()


def test_another_space_is_refused(ppro: Command) -> None:
    told = ppro("reproduce", "table1", "--space", "grid").error
    assert told == "--space grid: no table can be searched in it; valid: own, paper"


@pytest.mark.data
def test_a_cell_of_table_3_is_trained_and_kept(
    ppro: Command, real_data: str, workplace: Path
) -> None:
    words = ("--quick", "--only", "cora", "--only", "gcn-scores-none", "--data-root", real_data)
    ended = ppro("reproduce", "table3", *words)
    assert ended.status == 0
    kept = workplace / "results-quick" / "cells" / "backbones" / "cora.public"
    assert [path.name for path in kept.iterdir()] == ["gcn-scores-none.json"]


def test_what_is_over_time_is_told(ppro: Command, workplace: Path) -> None:
    words = ("--quick", "--only", "planted", "--minutes", "0.01")
    ended = ppro("reproduce", "planted", *words)
    assert ended.status == 0
    assert "time is over: what is done is kept in results-quick, and rendered" in ended.err
