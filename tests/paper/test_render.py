from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ppro.paper.panels import Column, Panel, PaperNumber, Table
from ppro.paper.render import comparisons, entries, latex, markdown, section, verdicts
from ppro.paper.store import Store
from tests.paper.support import keep, reached

PANEL = Panel(
    "a panel",
    [Column("Cora", "cora", "public"), Column("Texas", "texas", "random-60-20-20")],
    ["gcnii-star", "appnp-none", "l2b"],
    {("gcnii-star", "Cora"): PaperNumber(85.3), ("l2b", "Cora"): PaperNumber(85.0, 0.8)},
    left_out=frozenset({("gcnii-star", "Texas")}),
    pairs=[("l2b", "appnp-none")],
)
TABLE = Table("one", "A table", [PANEL])


def store(tmp_path: Path) -> Store:
    made = Store(tmp_path)
    for method, test in (
        ("gcnii-star", [84.0, 84.2]),
        ("appnp-none", [84.0, 85.0]),
        ("l2b", [84.9, 85.3]),
    ):
        result = {**reached(test), "test_std": 0.5}
        keep(made, f"cells/cora.public/{method}", result, configurations=32)
    return made


def test_every_place_says_what_is_known(tmp_path: Path) -> None:
    found = entries(PANEL, store(tmp_path))
    assert found["gcnii-star", "Cora"].difference == "-1.2*"
    assert found["l2b", "Cora"].best
    assert found["l2b", "Cora"].difference == "+0.1"
    assert found["gcnii-star", "Texas"].result is None


def test_markdown(tmp_path: Path) -> None:
    text = markdown(TABLE, store(tmp_path))
    assert "| GCNII* | 84.1 ± 0.5 (85.3, -1.2*) | – |" in text
    assert "| L2B | **85.1 ± 0.5** (85.0, +0.1) | – |" in text
    assert (
        "Configurations tried by each search: 32, each with 3 to 5 runs on seeds from 1000" in text
    )
    assert "seeds from 0 on" in text
    assert "Drawn from: GCNII* 72; APPNP, backbone alone 108; L2B 3,456." in text
    assert "| L2B | APPNP, backbone alone | – | – | 1 |" in text
    (found,) = verdicts(TABLE, store(tmp_path)).values()
    assert f"{found.comparison.difference:+.2f}, {found.comparison.standard_error:.2f}" == (
        "+0.60, 0.30"
    )


def test_latex_has_a_row_for_each_method(tmp_path: Path) -> None:
    text = latex(TABLE, store(tmp_path))
    assert "GCNII$^*$ & $84.1 \\pm 0.5$ (85.3, $-1.2^*$) & -- \\\\" in text
    assert text.count("\\\\") == 4


def test_pairs_need_the_same_runs(tmp_path: Path) -> None:
    made = store(tmp_path)
    assert len(comparisons(PANEL, made)) == 1
    keep(made, "cells/cora.public/l2b", reached([84.0]), configurations=1)
    assert comparisons(PANEL, made) == {}


def test_a_place_without_a_result_says_what_is_missing(tmp_path: Path) -> None:
    empty = Store(tmp_path)
    text = markdown(TABLE, empty)
    assert "| GCNII* | missing (85.3) | – |" in text
    assert "Not recorded yet." in text
    assert "Paired over" not in text
    assert entries(PANEL, empty)["gcnii-star", "Cora"].difference == ""
    assert "L2B & -- & -- \\\\" in latex(TABLE, empty)


def test_a_panel_that_is_studied_shows_validation_and_the_use_of_steps(tmp_path: Path) -> None:
    made = store(tmp_path)
    spread = {**reached([84.9, 85.3], val_mean=82.25), "step_shares": [0.05, 0.5, 0.1, 0.35]}
    keep(made, "cells/cora.public/l2b", spread, configurations=8)
    studied = Table("one", "A table", [replace(PANEL, studied=True)])
    text = markdown(studied, made)
    assert "| validation; nodes at other steps than the two most common | Cora | Texas |" in text
    assert "| L2B | 82.2; 15 % | – |" in text
    assert "| APPNP, backbone alone | 0.0; not recorded | – |" in text
    assert "Runs: 2, seeds from 0 on. Configurations tried by each search: 8 to 32, each" in text


def test_a_section_is_a_table_or_the_command_that_measures_it() -> None:
    filled = section("Title", "What to know.", "a|b", [["1", "2"]], "name")
    assert filled.startswith("## Title\n\nWhat to know.\n\n| a | b |\n")
    assert "| 1 | 2 |" in filled
    nothing = section("Title", "What to know.", "a|b", [], "name")
    assert nothing == "## Title\n\nNot measured yet: run `ppro reproduce name`.\n"
