"""The pages of results, and the sections that they are made of."""

from __future__ import annotations

from pathlib import Path

from ppro.paper import fresh, pages
from ppro.paper.design import is_papers
from ppro.paper.experiment import Plan
from ppro.paper.figures import FIGURES
from ppro.paper.pages import GROUPS, OWN_PAGES, slugify, summary
from ppro.paper.sections import SECTIONS, stages, works_of
from ppro.paper.store import Store
from ppro.paper.tables import TABLES
from ppro.settings.recipes import shipped_recipe
from tests.paper.support import keep_experiment, reached

RESULTS = Store(Path(__file__).parents[2] / "results")
DOCS = Path(__file__).parents[2] / "docs"


def put(store: Store, name: str, test: list[float]) -> None:
    experiment = fresh.of_recipe(name, shipped_recipe(name).settings, Plan(store.root))
    keep_experiment(store, experiment, reached(test))


def test_a_summary_says_where_a_strategy_differs(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert "Not measured yet" in summary(store)
    put(store, "cora-none", [84.0, 84.2, 84.1])
    put(store, "cora-l2b", [85.0, 85.3, 85.1])
    assert "Not measured yet" in summary(store)
    put(store, "cora-l2u", [84.0, 84.3, 83.9])
    marks = [
        "" if is_papers(shipped_recipe(f"cora-{s}").settings) else " †"
        for s in ("none", "l2b", "l2u")
    ]
    text = summary(store)
    assert (
        f"| Cora | 3 | 84.1 ± 0.1{marks[0]} | 85.1 ± 0.2{marks[1]}, *better* | "
        f"84.1 ± 0.2{marks[2]} | " in text
    )
    assert "| L2B: better on Cora, no different beyond noise on 0 of 1 graphs. L2U: no " in text


def test_the_paper_is_compared_with_its_own_design(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for strategy in ("none", "l2b", "l2u"):
        put(store, f"cora-{strategy}", [89.0, 89.2, 89.1])
        put(store, f"cora-{strategy}-paper", [84.0, 84.3, 83.9])
    text = summary(store)
    assert "| 84.1 ± 0.2 (83.3) | 84.1 ± 0.2 (85.0) | 84.1 ± 0.2 (85.0) |" in text
    assert "L2U: -0.9 points on average over 1 graphs, lower beyond" in text
    assert "a matter of tuning" not in text
    put(store, "cora-none-paper", [94.0, 94.2, 94.1])
    assert "a matter of tuning" in summary(store)


def test_the_pages_of_the_docs_are_those_of_the_results() -> None:
    told = "run: ppro reproduce all --render-only --page docs/results.md"
    assert summary(RESULTS) in (DOCS / "results.md").read_text(encoding="utf-8"), told


def test_every_section_is_on_one_page_which_the_first_names() -> None:
    texts = {name: f"## Title of {name}\n" for name in SECTIONS}
    found = pages.pages(texts, RESULTS, everything=True)
    assert set(found) == {"", *OWN_PAGES}
    page_of = {name: page for page, names in OWN_PAGES.items() for name in names}
    for name, text in texts.items():
        assert [page for page in found if text in found[page]] == [page_of.get(name, "")]
        link = f"[Title of {name}](#{slugify(f'Title of {name}')})"
        assert (link in found[""]) == (name not in page_of)
    assert all(f"]({page})" in found[""] for page in OWN_PAGES)
    (one,) = pages.pages({"finals": texts["finals"]}, RESULTS, everything=False).values()
    assert texts["finals"] in one


def test_links_to_titles_are_those_of_the_site() -> None:
    assert slugify("Sensitivity to λ1, λ2 and ε") == "sensitivity-to-1-2-and"
    assert slugify("Ablation: PPro without each of its parts") == (
        "ablation-ppro-without-each-of-its-parts"
    )


def test_every_table_and_figure_is_a_section() -> None:
    named = {name for names in (*GROUPS.values(), *OWN_PAGES.values()) for name in names}
    assert {*TABLES, *FIGURES, *named} <= set(SECTIONS)


def test_rounds_come_after_the_tables_that_they_rest_on() -> None:
    order = [[section.name for section in stage] for stage in stages(list(SECTIONS)[::-1])]
    assert set(order[0]) == set(TABLES)
    assert order[1:3] == [["finals"], ["playoffs"]]
    assert set(order[-1]) == set(FIGURES)


def test_words_choose_what_is_run(tmp_path: Path) -> None:
    plan = Plan(tmp_path)
    table, shown = SECTIONS["homophilous"], SECTIONS["shipped"]
    works = works_of([table, shown], plan, ({"cora"}, set(), {"gcn"}, set()))
    assert {work.dataset for work in works} == {"cora"}
    named = {work.place for work in works if work.method}
    assert named == {"search/cora.public/gcn", "cells/cora.public/gcn"}
    # What is about no single method is not left out by the name of one.
    assert len({work.place for work in works} - named) >= 3


def test_depths_choose_what_is_run(tmp_path: Path) -> None:
    words = ({"cora"}, set[str](), {"gcn"}, {2, 4})
    works = works_of([SECTIONS["depth"]], Plan(tmp_path), words)
    cells = {work.place for work in works if work.place.startswith("cells/")}
    assert cells == {f"cells/depth-{steps}/cora.public/gcn" for steps in (2, 4)}
    assert {work.steps for work in works} == {2, 4}


def test_all_that_the_results_hold_is_done() -> None:
    """But for what rests on the recipes: tables say of those of today what is measured."""
    plan = Plan(RESULTS.root)
    for name in ("homophilous", "l2p", "playoffs", "ablation"):
        for work in SECTIONS[name].works(plan):
            assert work.is_done(RESULTS), work.place
