"""Reports in a real browser, opened from disk, with the network off."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from ppro.data import load_graph
from ppro.graph.core import Graph
from ppro.insight.explain import ExplainedRun
from ppro.nn.comparing.evidence import OF_STEP
from ppro.nn.comparing.network import compares
from ppro.settings.recipes import shipped_recipe
from tests.insight.report.browser import Page, chromium
from tests.insight.report.conftest import Explain
from tests.insight.test_comparing import COMPARING

Write = Callable[[ExplainedRun], Path]

LIMIT = 3.0
"""Seconds in which the report of Pubmed opens in a browser that was just started."""

PLACE_OF_NODE = """
    const plot = document.getElementById("graph"), layout = plot._fullLayout;
    for (const trace of plot.data) {
      const i = (trace.customdata ?? []).indexOf(arguments[0]);
      if (i < 0) continue;
      return [layout.xaxis.d2p(trace.x[i]) + layout.xaxis._offset,
              layout.yaxis.d2p(trace.y[i]) + layout.yaxis._offset];
    }"""


def reported(name: str, folder: Path, *options: str) -> Path:
    """Train on a graph of the paper and write the report, both from the command line."""
    if not os.environ.get("PPRO_DATA"):
        pytest.skip("PPRO_DATA is not set: no folder with the paper's graphs")
    run = folder / name
    for words in (
        ("train", name, "--out", str(run), *options),
        ("report", str(run)),
    ):
        subprocess.run([sys.executable, "-m", "ppro", *words], check=True, capture_output=True)
    return run / "report.html"


@pytest.fixture(scope="module")
def cora(page: Page, tmp_path_factory: pytest.TempPathFactory) -> Path:
    del page  # Without a browser there is nothing to train for.
    options = ("--runs", "2", "--set", "epochs=30", "--set", "epsilon=0.5")
    return reported("cora", tmp_path_factory.mktemp("cora"), *options)


def click_node(page: Page, node: int) -> None:
    graph = page.find("#graph")
    page.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", graph)
    x, y = page.script(PLACE_OF_NODE, node)
    size = graph.size
    dx, dy = round(x - size["width"] / 2), round(y - size["height"] / 2)
    actions = ActionChains(page.driver).move_to_element_with_offset(graph, dx, dy)
    actions.pause(0.3).click().perform()


def search(page: Page, text: str, *keys: str) -> None:
    field = page.find("#search")
    field.clear()
    field.send_keys(text, *keys, Keys.ENTER)


@pytest.mark.data
def test_cora_is_drawn_searched_and_clicked(page: Page, cora: Path) -> None:
    page.open(cora)
    assert page.text("h1") == "cora"
    assert "2 runs, seeds 0 to 1" in page.text("#tiles")
    drawn = page.script("return document.getElementById('graph').data.map((t) => t.x.length)")
    assert sum(drawn[1:-2]) == 2708
    labels = page.pixels("#graph")
    assert len(labels) > 50_000
    search(page, "1358")
    assert page.text("#story-title") == "Node 1358"
    assert "1358 chosen" in page.text("#status")
    assert page.pixels("#graph") != labels
    # The loneliest node of the drawing is the surest to hit.
    click_node(page, 2695)
    page.wait("return document.getElementById('story-title').textContent !== 'Node 1358'")
    assert page.text("#story-title") == "Node 2695"
    lines = page.script("return document.getElementById('by-step').data.map((t) => t.y.length)")
    steps = page.script("return document.querySelectorAll('#by-step-table tbody tr').length")
    settings = shipped_recipe("cora-l2b").settings
    depth = settings.network.max_steps
    assert steps == depth + 1
    assert lines == [depth + 1] * (len(lines) - 1) + [depth]
    assert f"of {depth}" in page.text("#badges")
    drivers = page.script("return document.querySelectorAll('#drivers tr').length")
    assert drivers == (8 if compares(settings) else 6)
    assert page.errors() == []


@pytest.mark.data
def test_colours_and_views_change_what_is_seen(page: Page, cora: Path) -> None:
    page.open(cora)
    page.script("document.getElementById('graph').scrollIntoView({behavior: 'instant'})")
    seen = {page.pixels("#graph")}
    for colour in ("predicted", "correct", "step", "priority", "part"):
        page.choose("#colour", colour)
        seen.add(page.pixels("#graph"))
    page.choose("#view", "2")
    seen.add(page.pixels("#graph"))
    assert len(seen) == 7
    assert "hops away" in page.text("#graph-caption")
    page.find("#neighbours button").click()
    assert page.script("return document.getElementById('graph').data[1].x.length") > 0
    assert page.errors() == []


@pytest.mark.data
def test_every_chart_is_drawn(page: Page, cora: Path) -> None:
    page.open(cora)
    for section in ("learned", "training", "confusion"):
        page.script(
            "document.getElementById(arguments[0]).scrollIntoView({behavior: 'instant'})", section
        )
        page.wait(
            f"return [...document.querySelectorAll('#{section} .chart')].slice(0, 2)"
            ".every((c) => c.querySelector('.main-svg'))"
        )
    assert page.errors() == []


@pytest.mark.data
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_narrow_screens_and_dark_ones(page: Page, cora: Path, dark: bool) -> None:
    page.open(cora, width=400, dark=dark)
    assert page.script("return document.documentElement.scrollWidth") <= 400
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = page.script(colour)
    assert (page.script("return document.documentElement.dataset.theme") == "dark") == dark
    page.find("#theme").click()
    assert page.script(colour) != before
    page.script("localStorage.clear()")
    assert page.errors() == []


def test_ids_and_labels_that_try_to_break_out_show_as_text(
    page: Page, explained: Explain, hostile_graph: Graph, written: Write
) -> None:
    page.open(written(explained(hostile_graph)))
    assert hostile_graph.node_ids is not None
    for node in range(7):
        page.script("document.getElementById('search').value = ''")
        wanted = hostile_graph.node_ids[node]
        page.script(
            """const field = document.getElementById('search');
               field.value = arguments[0];
               field.dispatchEvent(new Event('input'));
               document.getElementById('tools').requestSubmit();""",
            wanted,
        )
        title = page.script("return document.getElementById('story-title').textContent")
        assert title == f"Node {wanted}"
    for section in ("explorer", "learned", "confusion", "settings"):
        page.script(
            "document.getElementById(arguments[0]).scrollIntoView({behavior: 'instant'})", section
        )
        page.pixels("body")
    assert page.script("return window.hacked") is None
    assert page.script("return document.scripts.length") == 3
    assert page.script("return document.querySelectorAll('img, svg a, iframe').length") == 0
    assert page.script("return document.documentElement.scrollWidth") <= 1280
    assert page.errors() == []


def test_keys_alone_reach_a_node(
    page: Page, explained: Explain, small_graph: Graph, written: Write
) -> None:
    page.open(written(explained(small_graph)))
    search(page, "1", Keys.ARROW_DOWN)
    # "1" itself comes first, then the ids that begin with it.
    assert page.text("#story-title") == "Node 10"
    assert page.find("#search").get_attribute("aria-expanded") == "false"
    search(page, "none such")
    assert "No node has an id like" in page.text("#status")
    page.find("#neighbours button").send_keys(Keys.ENTER)
    assert page.text("#story-title") != "Node 10"
    assert page.script("return document.activeElement.id") == "story"
    names = page.script(
        "return [...document.querySelectorAll('input, select, button')].map((e) =>"
        " e.labels?.length || e.textContent.trim() || e.ariaLabel)"
    )
    assert all(names)


@pytest.mark.parametrize("change", [{"strategy": "none"}, {"model": "mlp", "strategy": "none"}])
def test_a_model_without_controllers_is_shown(
    page: Page, explained: Explain, small_graph: Graph, written: Write, change: dict[str, str]
) -> None:
    page.open(written(explained(small_graph, **change)))
    choices = page.text("#colour")
    assert "step" not in choices
    assert "no controllers" in page.text("#learned-lead")
    assert page.errors() == []


@pytest.mark.parametrize(
    ("strategy", "told", "chance"),
    [("l2b", "It stopped at step", "P(break)"), ("l2u", "It kept step", "P(update)")],
)
def test_the_page_uses_the_words_of_the_strategy(
    page: Page,
    explained: Explain,
    small_graph: Graph,
    written: Write,
    strategy: str,
    told: str,
    chance: str,
) -> None:
    page.open(written(explained(small_graph, strategy=strategy, metric="roc-auc")))
    assert page.text("#story-text").startswith(told)
    head = "return document.querySelector('#by-step-table thead').textContent"
    assert chance in page.script(head)
    assert page.text("#lead").startswith(f"{strategy.upper()} on APPNP. Scores are over all runs")
    assert "Test ROC AUC" in page.text("#tiles")
    table = page.script("return document.getElementById('runs').textContent")
    assert "validation ROC AUC" in table
    assert page.errors() == []


@pytest.mark.parametrize(
    ("strategy", "first", "last"), [("l2b", True, False), ("l2u", False, True)]
)
def test_controllers_that_compare_show_what_they_saw(
    page: Page, explained: Explain, written: Write, strategy: str, first: bool, last: bool
) -> None:
    graph = load_graph("planted", options={"nodes": 120})
    changes: Any = {**COMPARING, "strategy": strategy}
    page.open(written(explained(graph, **changes)))
    rows = page.script(
        "return [...document.querySelectorAll('#by-step-table tr')].map((row) =>"
        " [...row.children].map((cell) => cell.textContent))"
    )
    head, cells = rows[0], rows[1:]
    chance = head.index("P(break)" if strategy == "l2b" else "P(update)")
    assert [cells[0][chance] != "–", cells[-1][chance] != "–"] == [first, last]
    assert head[chance + 1 :] == list(OF_STEP)
    confidence = [float(row[chance + 1].removesuffix(" %")) for row in cells]
    assert all(100 / graph.num_classes - 1 <= value <= 100 for value in confidence)
    assert page.script("return document.querySelectorAll('#drivers tr').length") == 8
    assert "Training scales them to mean 1" in page.text("#priorities-lead")
    assert page.errors() == []


def test_what_has_collapsed_stands_at_the_top(
    page: Page, explained: Explain, small_graph: Graph, written: Write
) -> None:
    still: Any = {"propagation_bias": -50.0, "lr_controller": 1e-9, "teaching": "paper"}
    page.open(written(explained(small_graph, **still)))
    assert "Nearly all nodes share a step: more than 95 % are at one in 2 of 2 runs" in page.text(
        "#findings"
    )
    table = page.script("return document.getElementById('runs').textContent")
    assert "most common step" in table
    page.open(written(explained(small_graph, strategy="none")))
    findings = page.script("return document.getElementById('findings').textContent")
    assert "share a step" not in findings
    assert page.find("#findings").is_displayed() is bool(findings)
    assert "log loss (less is better)" in page.text("#metrics")
    assert page.text("#classes").startswith("class precision recall F1 nodes")
    assert not page.find("#priorities-lead").is_displayed()
    assert page.errors() == []


@pytest.mark.parametrize("width", [1280, 400])
def test_names_and_ticks_of_charts_fit(
    page: Page, explained: Explain, small_graph: Graph, written: Write, width: int
) -> None:
    numbers = tuple(str(i) for i in range(small_graph.num_classes))
    names = tuple(f"a long name {i}" for i in numbers)
    ticks = (
        "return [...document.querySelectorAll('#confusion .ytick text')].map((e) => e.textContent)"
    )
    listed = "return document.querySelector('#confusion .legend')?.checkVisibility() ?? null"
    for classes in (numbers, names):
        page.open(written(explained(replace(small_graph, class_names=classes))), width=width)
        page.script("document.getElementById('confusion').scrollIntoView({behavior: 'instant'})")
        page.wait("return document.querySelector('#confusion .ytick text') !== null")
        wide = [f"{name} {i}" for i, name in enumerate(names)]
        shown = wide if classes is names and width == 1280 else list(numbers)
        assert sorted(page.script(ticks)) == sorted(shown)
        assert page.script(listed) == (width == 400 if classes is names else None)


def cold_openings(report: Path, under: float, most: int = 4) -> Iterator[float]:
    """Seconds to open it in a fresh browser, until one is fast: the machine may be busy."""
    for _ in range(most):
        with chromium() as cold:
            cold.open(report)
            seconds = cold.opened_in()
        yield seconds
        if seconds < under:
            return


@pytest.mark.data
def test_pubmed_is_small_and_opens_fast(page: Page, tmp_path: Path) -> None:
    report = reported("pubmed", tmp_path, "--runs", "1", "--set", "epochs=3")
    assert report.stat().st_size < 15e6
    assert min(cold_openings(report, under=LIMIT)) < LIMIT
    page.open(report)
    assert page.script("return document.getElementById('graph').data[0].type") == "scatter"
    assert "hops away" in page.text("#graph-caption")
    search(page, "19716")
    assert page.text("#story-title") == "Node 19716"
    assert page.errors() == []
