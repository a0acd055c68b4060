from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ppro.data.files import predict_only
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.insight.explain import ExplainedRun
from ppro.insight.report import plotting_library, report_data
from ppro.insight.report.page import CLOSING, OPENING, own_script, read_once, safe_json
from ppro.parts import STRATEGIES
from tests.insight.report.conftest import SCRIPT, Explain

Write = Callable[[ExplainedRun], Path]


def test_the_page_runs_its_own_scripts_and_loads_nothing(
    explained: Explain, small_graph: Graph, written: Write
) -> None:
    text = written(explained(small_graph)).read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 2
    allowed = re.findall(r"'sha256-(.*?)'", text)
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    assert allowed == [base64.b64encode(digest).decode() for digest in digests]
    assert "default-src 'none'" in text
    assert "'unsafe-inline'" not in text.split("style-src")[0]
    shell = text.replace(scripts[0], "").replace(scripts[1], "")
    assert not re.search(r"(src|href)=[\"']?https?:|@import|url\(", shell)
    assert " on" + "click=" not in shell


def test_data_cannot_end_its_script(
    explained: Explain, hostile_graph: Graph, written: Write
) -> None:
    text = written(explained(hostile_graph)).read_text(encoding="utf-8")
    assert SCRIPT not in text
    assert text.count("</script>") == 3
    data = text.split('id="data">')[1].split("</script>")[0]
    assert data.isascii()
    assert json.loads(data)["explorer"]["ids"] == list(hostile_graph.node_ids or ())


def test_json_stays_what_it_was() -> None:
    value = {"a": "<!--</script>&amp;\u2028\u2029é", "b": [1.5, None]}
    text = safe_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"strategy": "none"}, {"steps", "priorities"}),
        ({"model": "mlp", "strategy": "none"}, {"steps", "priorities", "accuracyByStep"}),
        ({"use_weighting": False}, {"priorities"}),
        ({"strategy": "l2u"}, set()),
    ],
    ids=["full depth", "rival", "no weights", "l2u"],
)
def test_a_report_lacks_what_the_model_lacks(
    explained: Explain,
    small_graph: Graph,
    change: dict[str, Any],
    missing: set[str],
) -> None:
    charts = report_data(explained(small_graph, **change))["charts"]
    assert {name for name, chart in charts.items() if chart is None} == missing
    expected = 2 * (2 - len(missing & {"steps", "priorities"}))
    assert len(charts["relations"]) == expected


@pytest.mark.filterwarnings("error")
def test_a_report_on_a_new_graph_has_no_test_accuracy(
    explained: Explain, small_graph: Graph
) -> None:
    run = explained(small_graph)
    new = replace(run, splits=predict_only(run.graph, run.config.runs))
    assert report_data(run)["charts"]["accuracyByStep"] is not None
    assert report_data(new)["charts"]["accuracyByStep"] is None


def test_without_plotly_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(SettingsError, match=r"pip install 'ppro\[report\]'"):
        plotting_library()


def test_the_script_writes_text_never_markup() -> None:
    script = own_script()
    for dangerous in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert dangerous not in script


def test_the_script_knows_no_strategy_by_its_name() -> None:
    script = own_script().lower()
    for name, strategy in STRATEGIES.items():
        words = (strategy.title.lower(), f"to {strategy.verb}", f"p({strategy.verb})")
        for word in words if strategy.verb else words[:1]:
            assert word not in script, (name, word)


def test_the_library_is_compiled_at_once() -> None:
    inside = f"{OPENING}var Plotly = 1;"
    assert read_once(f"{inside}{CLOSING}\n") == (
        f"{inside.replace('() =>', '(() =>')}{CLOSING.replace('}', '})')}"
    )
    for other in ("var a = () => {};", inside, f"{inside}{inside}{CLOSING}"):
        assert read_once(other) == other
    assert read_once(plotting_library()).count("self : this, (() => {") == 1
