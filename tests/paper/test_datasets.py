from __future__ import annotations

import pytest

from ppro.data import DATASETS, PAPERS, load_graph
from ppro.paper import datasets


def test_every_graph_of_the_paper_has_a_row() -> None:
    assert "cora" in PAPERS
    assert "digits" not in PAPERS


def test_what_is_measured_is_what_is_loaded() -> None:
    found = datasets.measure(["digits"], offline=True)["datasets"]["digits"]
    graph = load_graph("digits")
    sizes = [graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes]
    assert list(found.values()) == sizes


def test_the_papers_number_stands_where_it_differs() -> None:
    paper = DATASETS["cora"].paper
    assert paper is not None
    sizes = {key: getattr(paper, key) for key in type(paper).__dataclass_fields__}
    first = next(iter(sizes))
    record = {"datasets": {"cora": {**sizes, first: sizes[first] + 1}, "digits": sizes}}
    lines = datasets.markdown(record).splitlines()
    cora = next(line for line in lines if line.startswith("| Cora"))
    assert f"| {sizes[first] + 1:,} ({sizes[first]:,}) |" in cora
    assert cora.count("(") == 1
    # No number of the paper, nothing to compare.
    assert "(" not in next(line for line in lines if line.startswith("| Digits"))


def test_known_defects_are_told() -> None:
    sizes = dict.fromkeys(("nodes", "edges", "features", "classes"), 1)
    named = "cornell-legacy"
    text = datasets.markdown({"datasets": {named: sizes}})
    for defect in DATASETS[named].known_defects:
        assert f"- {DATASETS[named].title}: {defect}." in text
    assert DATASETS[named].known_defects


@pytest.mark.parametrize("offline", [True, False])
def test_where_to_look_is_handed_on(monkeypatch: pytest.MonkeyPatch, offline: bool) -> None:
    asked = []

    def loaded(name: str, **where: object) -> object:
        asked.append((name, where))
        return load_graph("digits")

    monkeypatch.setattr(datasets, "load_graph", loaded)
    datasets.measure(["cora"], offline=offline)
    assert asked == [("cora", {"data_root": None, "offline": offline})]
