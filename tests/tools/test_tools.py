"""The scripts behind ``make coverage``, ``make mutation`` and ``make recipes``."""

from __future__ import annotations

import importlib.util
import io
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ppro.settings import recipes
from ppro.settings.recipe import parse_recipe
from ppro.settings.recipes import shipped_recipe

TOOLS = Path(__file__).parents[2] / "tools"


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("lines", "branches", "status"), [(95, 90, 0), (94, 90, 1), (95, 89, 1), (100, 100, 0)]
)
def test_coverage_has_a_limit_for_lines_and_one_for_branches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: int, branches: int, status: int
) -> None:
    totals = {"covered_lines": 2 * lines, "num_statements": 200}
    totals |= {"covered_branches": branches, "num_branches": 100}
    (tmp_path / "report.json").write_text(json.dumps({"totals": totals}))
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "report.json")])
    with pytest.raises(SystemExit) as ended:
        tool("coverage_limits").main()
    assert ended.value.code == status


FOUND = """
    ppro.nn.losses.x_node_mean__mutmut_1: killed
    ppro.nn.losses.x_node_mean__mutmut_2: survived
    ppro.nn.losses.x_node_mean__mutmut_3: timeout
    ppro.data.splits.xǁSplitsǁfrom_masks__mutmut_1: killed
    ppro.data.splits.x_fixed__mutmut_1: no tests
"""


def test_mutants_are_counted_by_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, out = tool("mutation"), tmp_path / "mutation.json"
    monkeypatch.setattr(script, "version", lambda name: "1.0")
    monkeypatch.setattr(sys, "argv", ["", str(out)])
    monkeypatch.setattr(sys, "stdin", io.StringIO(FOUND))
    with pytest.raises(SystemExit) as ended:
        script.main()
    assert ended.value.code == 1
    record = json.loads(out.read_text())
    assert record["modules"] == {
        "ppro.data.splits": {"killed": 1, "survived": 1, "total": 2},
        "ppro.nn.losses": {"killed": 2, "survived": 1, "total": 3},
    }
    assert (record["killed"], record["survived"], record["total"]) == (3, 2, 5)
    assert record["percent"] == 60.0
    assert record["tool"] == "mutmut 1.0"


def test_the_recorded_result_is_above_the_limit() -> None:
    path = TOOLS.parent / "results" / "mutation.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["percent"] >= tool("mutation").LIMIT
    assert {"ppro.nn.losses", "ppro.nn.controllers", "ppro.data.splits"} == set(record["modules"])


def test_recipes_are_written_from_results(tmp_path: Path) -> None:
    results = Path(__file__).parents[2] / "results"
    tool("make_recipes").main(results, tmp_path)
    made = parse_recipe((tmp_path / "cora-l2b.toml").read_text(), "made")
    assert made.found is not None
    assert made.found.runs == 30
    assert made.paper == shipped_recipe("cora-l2b").paper
    shipped = Path(recipes.__file__).parent
    for file in tmp_path.iterdir():
        assert file.read_text() == (shipped / file.name).read_text(), "run `make recipes`"
