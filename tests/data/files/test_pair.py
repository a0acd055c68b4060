"""From two tables to a graph: columns, labels, split, edges."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppro.data.files.schema import CategoricalColumn, NumericColumn, read_schema, write_schema
from ppro.errors import DataError
from tests.data.files.support import EDGES, NODES, reading

pytest.importorskip("pyarrow")

FEATURES = ("age", "city")


def test_ids_labels_and_edges(tmp_path: Path) -> None:
    found = reading(tmp_path / "people", features=FEATURES)
    graph = found.graph
    assert graph.name == "people"
    assert graph.node_ids == ("n0", "n1", "n2", "n3", "n4")
    assert graph.class_names == ("x", "y")
    assert graph.labels.tolist() == [0, 1, -1, 0, 1]
    assert graph.edge_index.tolist() == [[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]]
    assert graph.edge_weight is None
    facts = found.edges
    assert (facts.listed, facts.self_loops, facts.duplicates, facts.reciprocal) == (6, 1, 1, 1)


def test_of_several_weights_the_largest_is_kept(tmp_path: Path) -> None:
    weight = reading(tmp_path, weight="w").graph.edge_weight
    assert weight is not None
    assert weight.tolist() == [3, 3, 2, 2, 5, 5]


def test_features_are_what_the_schema_says(tmp_path: Path) -> None:
    found = reading(tmp_path, features=FEATURES)
    age, city = found.schema.columns
    assert isinstance(age, NumericColumn)
    assert isinstance(city, CategoricalColumn)
    assert (age.mean, age.shift, age.indicator) == (35, 35, True)
    assert age.scale == pytest.approx(125**0.5)
    assert (city.categories, city.other, city.indicator) == (("Bonn", "Oslo", "Rome"), False, True)
    expected = [
        [-15 / age.scale, 0, 0, 0, 1, 0],
        [0, 1, 1, 0, 0, 0],
        [5 / age.scale, 0, 0, 0, 1, 0],
        [-5 / age.scale, 0, 0, 0, 0, 1],
        [15 / age.scale, 0, 0, 1, 0, 0],
    ]
    assert torch.allclose(found.graph.features, torch.tensor(expected))
    assert "column age: 1 missing values become the mean of the column" in found.notes


def test_numbers_can_stay_as_they_are(tmp_path: Path) -> None:
    found = reading(tmp_path, features=("age",), scale="none")
    assert found.graph.features[:, 0].tolist() == [20, 35, 40, 30, 50]


def test_yes_and_no_are_not_scaled(tmp_path: Path) -> None:
    nodes = "id,a,b,topic\n0,1,true,x\n1,0,false,y\n2,1,true,y\n"
    found = reading(tmp_path, nodes, "source,target\n0,1\n")
    assert found.graph.features.tolist() == [[1, 1], [0, 0], [1, 1]]


def test_a_constant_column_is_zero(tmp_path: Path) -> None:
    nodes = "id,a,topic\n0,0.1,x\n1,0.1,y\n2,0.1,y\n"
    features = reading(tmp_path, nodes, "source,target\n0,1\n").graph.features.to_dense()
    assert features.abs().max() < 1e-6


def test_rare_categories_share_a_feature(tmp_path: Path) -> None:
    found = reading(tmp_path, features=("city",), max_categories=1)
    (city,) = found.schema.columns
    assert isinstance(city, CategoricalColumn)
    assert (city.categories, city.other, city.width) == (("Rome",), True, 3)
    expected = [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert found.graph.features.to_dense().tolist() == expected


def test_numbers_can_be_categories(tmp_path: Path) -> None:
    (age,) = reading(tmp_path, features=("age",), categorical=("age",)).schema.columns
    assert isinstance(age, CategoricalColumn)
    assert age.categories == ("20", "30", "40", "50")


def test_categories_of_numbers_may_be_written_otherwise(tmp_path: Path) -> None:
    nodes = "id,code,topic\n0,1.0,a\n1,2.5,b\n2,,a\n3,x,b\n"
    edges = "source,target\n0,1\n"
    schema = reading(tmp_path, nodes, edges, categorical=("code",)).schema
    assert schema.feature_names == ["code = 1.0", "code = 2.5", "code = x", "code is missing"]
    new = reading(tmp_path, "id,code\n0,1\n1,01\n2,2\n3,\n", edges, schema)
    assert new.graph.features.to_dense().argmax(1).tolist() == [0, 0, 0, 3]
    assert new.graph.features.to_dense().sum(1).tolist() == [1, 1, 0, 1]
    assert "column code: 1 cells: categories unseen in training" in "\n".join(new.notes)


def test_columns_left_out_are_told_of(tmp_path: Path) -> None:
    nodes = "id,name,born,gone,x,topic\n" + "".join(
        f"{k},name {k},2020-01-0{k + 1},,{k},{'xy'[k % 2]}\n" for k in range(4)
    )
    found = reading(tmp_path, nodes, "source,target\n0,1\n", max_categories=3)
    assert [column.name for column in found.schema.columns] == ["x"]
    told = "\n".join(found.notes)
    for name, why in (("name", "4 different texts"), ("born", "type date"), ("gone", "missing")):
        assert f"column {name} is left out: " in told
        assert why in told


def test_all_numeric(tmp_path: Path) -> None:
    found = reading(tmp_path, all_numeric=True)
    assert [column.name for column in found.schema.columns] == ["age"]


def test_the_split_column(tmp_path: Path) -> None:
    nodes = NODES.replace(",train", ",Training").replace(",val", ", valid").replace(",none", ",")
    masks = reading(tmp_path, nodes, split_column="part").masks
    assert masks is not None
    assert masks.train.tolist() == [[True, True, False, False, False]]
    assert masks.val.tolist() == [[False, False, False, True, False]]
    assert masks.test.tolist() == [[False, False, False, False, True]]


@pytest.mark.parametrize(
    ("labels", "names", "codes"),
    [
        (("10", "9", "-1", ""), ("9", "10"), [1, 0, -1, -1]),
        (("2.0", "1", "NaN", "1.0"), ("1", "2"), [1, 0, -1, 0]),
        (("b", "a", "NA", "10"), ("10", "a", "b"), [2, 1, -1, 0]),
    ],
)
def test_class_names_have_an_order(
    tmp_path: Path, labels: tuple[str, ...], names: tuple[str, ...], codes: list[int]
) -> None:
    rows = "".join(f"{k},{k},{label}\n" for k, label in enumerate(labels))
    graph = reading(tmp_path, "id,x,topic\n" + rows, "source,target\n0,1\n").graph
    assert graph.class_names == names
    assert graph.labels.tolist() == codes


def test_without_ids_nodes_are_rows(tmp_path: Path) -> None:
    graph = reading(tmp_path, "x,topic\n5,u\n6,v\n7,u\n", "from,to\n0,2\n").graph
    assert graph.node_ids is None
    assert graph.edge_index.tolist() == [[0, 2], [2, 0]]


def test_an_id_may_read_na(tmp_path: Path) -> None:
    nodes = "id,x,topic\nNA,1,u\nDE,2,v\n"
    assert reading(tmp_path, nodes, "a,b\nNA,DE\n").graph.node_ids == ("NA", "DE")


def test_the_order_of_rows_does_not_matter_to_the_schema(tmp_path: Path) -> None:
    header, *rows = NODES.splitlines()
    turned = "\n".join([header, *rows[::-1]]) + "\n"
    kept = reading(tmp_path / "a", features=FEATURES)
    other = reading(tmp_path / "b", turned, features=FEATURES)
    assert kept.schema == other.schema
    assert torch.equal(kept.graph.features.flip(0), other.graph.features)


@settings(
    deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.permutations(range(5)), edge_order=st.permutations(range(6)))
def test_the_order_of_rows_does_not_matter(
    tmp_path: Path, order: list[int], edge_order: list[int]
) -> None:
    (header, *rows), (edge_header, *edge_rows) = NODES.splitlines(), EDGES.splitlines()
    nodes = "\n".join([header, *(rows[k] for k in order)])
    edges = "\n".join([edge_header, *(edge_rows[k] for k in edge_order)])
    usual = reading(tmp_path / "usual", weight="w").graph
    found = reading(tmp_path / "mixed", nodes, edges, weight="w").graph
    back = torch.tensor(order).argsort()
    assert torch.allclose(found.features[back], usual.features, atol=1e-6)
    assert torch.equal(found.labels[back], usual.labels)
    assert _edge_set(found) == _edge_set(usual)


def _edge_set(graph: object) -> set[tuple[str, str, float]]:
    from ppro.graph.core import Graph

    assert isinstance(graph, Graph)
    assert graph.node_ids is not None
    assert graph.edge_weight is not None
    ends = ([graph.node_ids[k] for k in side.tolist()] for side in graph.edge_index)
    return set(zip(*ends, graph.edge_weight.tolist(), strict=True))


def test_a_schema_survives_writing_and_reading(tmp_path: Path) -> None:
    schema = reading(tmp_path, features=FEATURES).schema
    write_schema(tmp_path / "schema.json", schema)
    assert read_schema(tmp_path / "schema.json") == schema
    (tmp_path / "schema.json").write_text('{"format": 1}')
    with pytest.raises(DataError, match=r"schema.json: damaged \(kind: Field required\)"):
        read_schema(tmp_path / "schema.json")
    with pytest.raises(DataError, match=r"gone.json: No such file"):
        read_schema(tmp_path / "gone.json")


class TestNewTables:
    """A schema of a training, applied to other tables."""

    def test_columns_may_come_in_any_order_and_labels_may_be_missing(self, tmp_path: Path) -> None:
        schema = reading(tmp_path / "a", features=FEATURES).schema
        new = "city,id,age\nRome,a,35\nParis,b,\n"
        found = reading(tmp_path / "b", new, "source,target\na,b\n", schema)
        assert found.graph.features.tolist() == [[0, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0]]
        assert found.graph.labels.tolist() == [-1, -1]
        assert found.graph.class_names == ("x", "y")
        assert "column city: 1 cells: categories unseen in training get no feature" in found.notes

    def test_unknown_labels_are_not_scored(self, tmp_path: Path) -> None:
        schema = reading(tmp_path / "a", features=FEATURES).schema
        nodes = NODES.replace(",x,", ",z,")
        found = reading(tmp_path / "b", nodes, schema=schema)
        assert found.graph.labels.tolist() == [-1, 1, -1, -1, 1]
        assert "1 labels are unknown to the model ('z' …)" in found.notes[0]

    def test_a_category_that_looks_like_a_number(self, tmp_path: Path) -> None:
        nodes = "id,c,topic\n0,1,x\n1,2,y\n2,a,y\n"
        edges = "source,target\n0,1\n"
        schema = reading(tmp_path / "a", nodes, edges).schema
        found = reading(tmp_path / "b", "id,c\n0,2\n1,1\n", edges, schema)
        assert found.graph.features.to_dense().tolist() == [[0, 1, 0], [1, 0, 0]]

    def test_a_missing_column_is_named(self, tmp_path: Path) -> None:
        schema = reading(tmp_path / "a", features=FEATURES).schema
        with pytest.raises(DataError, match=r"nodes.csv: no column 'age', which is one of the 2 f"):
            reading(tmp_path / "b", "id,city\na,Rome\nb,Bonn\n", "source,target\na,b\n", schema)

    def test_a_missing_value_where_none_may_be(self, tmp_path: Path) -> None:
        nodes = NODES.replace("n1,,", "n1,1,").replace("30,,", "30,Bonn,")
        schema = reading(tmp_path / "a", nodes, features=FEATURES, missing="error").schema
        with pytest.raises(DataError, match="row 2, column age: the value is missing; fill it"):
            reading(tmp_path / "b", NODES, schema=schema)

    def test_a_value_that_leaves_single_precision(self, tmp_path: Path) -> None:
        nodes = "id,a,topic\n0,1e-9,x\n1,2e-9,y\n2,1e-9,y\n"
        edges = "source,target\n0,1\n"
        schema = reading(tmp_path / "a", nodes, edges).schema
        with pytest.raises(DataError, match="row 2, column a: 1e\\+38 is too far from the values"):
            reading(tmp_path / "b", "id,a\n0,1\n1,1e38\n", edges, schema)


def test_where_no_node_validates_some_of_the_training_nodes_do(tmp_path: Path) -> None:
    """Tables often say train and test alone; the same nodes are held out every time."""
    nodes = "id,age,topic,part\n" + "".join(
        f"n{k},{k % 7},{'xy'[k % 2]},{'test' if k % 4 == 3 else 'train'}\n" for k in range(40)
    )
    edges = "source,target\n" + "".join(f"n{k},n{(k + 1) % 40}\n" for k in range(40))
    found, again = (
        reading(tmp_path / name, nodes, edges, split_column="part") for name in ("a", "b")
    )
    assert "no node is val, so 6 of the training nodes validate" in "\n".join(found.notes)
    assert found.masks is not None
    assert again.masks is not None
    train, val, test = found.masks.train, found.masks.val, found.masks.test
    assert (int(train.sum()), int(val.sum()), int(test.sum())) == (24, 6, 10)
    assert not (train & val).any()
    assert (val == again.masks.val).all()
    assert set(found.graph.labels[torch.from_numpy(val[0])].tolist()) == {0, 1}
