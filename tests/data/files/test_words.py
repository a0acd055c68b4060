"""Columns of text whose words are features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppro.data.files.findings import findings
from ppro.data.files.schema import WordsColumn, read_schema, write_schema
from ppro.data.files.words import bag_of_words, telling_words, words_of
from ppro.errors import DataError
from tests.data.files.support import reading

pytest.importorskip("pyarrow")

NODES = """id,text,size,topic
a,A fast graph library,1,x
b,"Fast, faster: the LIBRARY of graphs",2,y
c,library for sound,3,x
d,NA,4,y
e,sound of a graph,5,x
f,an instrument,6,y
"""
EDGES = "source,target\na,b\nb,c\nd,e\nf,a\n"


def test_every_word_of_several_nodes_is_a_feature(tmp_path: Path) -> None:
    found = reading(tmp_path, NODES, EDGES, words=("text",))
    column, size = found.schema.columns
    assert isinstance(column, WordsColumn)
    # "library" stands in more than half of the texts, "faster" in one.
    assert column.words == ("fast", "graph", "of", "sound")
    assert found.schema.feature_names == [
        *(f"text has {word}" for word in column.words),
        *size.feature_names,
    ]
    x = found.graph.features.to_dense()
    expected = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [0] * 4, [0, 1, 1, 1], [0] * 4]
    assert x[:, :4].tolist() == expected
    assert x.shape == (6, 5)
    assert "column text: 1 texts have no word that is a feature" in found.notes


def test_the_most_frequent_count(tmp_path: Path) -> None:
    chosen: Any = {"features": ("text",), "words": ("text",), "max_words": 1}
    (column,) = reading(tmp_path, NODES, EDGES, **chosen).schema.columns
    assert isinstance(column, WordsColumn)
    assert column.words == ("fast",), "the first of equals"


def test_words_are_added_to_features_that_are_named(tmp_path: Path) -> None:
    found = reading(tmp_path, NODES, EDGES, features=("size",), words=("text",))
    assert [column.name for column in found.schema.columns] == ["size", "text"]


def test_new_tables_are_read_by_the_words_of_the_training(tmp_path: Path) -> None:
    trained = reading(tmp_path, NODES, EDGES, words=("text",))
    path = tmp_path / "schema.json"
    write_schema(path, trained.schema)
    new = "id,text,size\nq,sound and more sound,1\nr,nothing known,2\n"
    found = reading(tmp_path, new, "source,target\nq,r\n", schema=read_schema(path))
    assert found.graph.features.to_dense()[:, :4].tolist() == [[0, 0, 0, 1], [0, 0, 0, 0]]
    assert "column text: 1 texts have no word that is a feature" in found.notes


def test_texts_of_many_words_are_sparse(tmp_path: Path) -> None:
    rows = [f"n{i},word{i // 2} word{i // 2 + 40} all,{i % 2}" for i in range(80)]
    nodes = "\n".join(["id,text,topic", *rows])
    found = reading(tmp_path, nodes, "source,target\nn0,n1\n", words=("text",))
    assert found.graph.features.layout == torch.sparse_csr
    assert found.graph.features.shape == (80, 80)


def test_describe_hints_at_words(tmp_path: Path) -> None:
    found = findings(reading(tmp_path, NODES, EDGES, max_categories=2))
    told = "column text is left out: 5 different texts; --words 'text' makes features of the words"
    assert told in found


@pytest.mark.parametrize(
    ("layout", "why"),
    [
        ({"words": ("texts",)}, "no column 'texts'; did you mean 'text'"),
        ({"words": ("topic",)}, "topic cannot be a feature too"),
        ({"words": ("text",), "categorical": ("text",)}, "named in --words and --categorical"),
        ({"words": ("id2",)}, "no word is in two of its texts or more"),
        ({"words": ("text",), "missing": "error"}, "row 4, column text: the value is missing"),
    ],
)
def test_what_cannot_be_words(tmp_path: Path, layout: dict[str, Any], why: str) -> None:
    lines = NODES.splitlines()
    nodes = "\n".join([f"{lines[0]},id2", *(f"{line},only{i}" for i, line in enumerate(lines[1:]))])
    with pytest.raises(DataError, match=why):
        reading(tmp_path, nodes, EDGES, **layout)


TEXTS = st.lists(st.text("ab_ é,1 ", max_size=12), min_size=1, max_size=8)


@given(TEXTS, st.integers(1, 5))
def test_a_bag_says_which_words_are_in_a_text(texts: list[str], most: int) -> None:
    words = telling_words(texts, most)
    assert len(words) <= most
    assert list(words) == sorted(set(words))
    found, strange = bag_of_words(words, texts)
    assert found.toarray().tolist() == [
        [float(word in words_of(text)) for word in words] for text in texts
    ]
    assert strange == sum(bool(text) and not set(words) & words_of(text) for text in texts)
    for column in found.toarray().T:
        assert column.sum() >= 2
