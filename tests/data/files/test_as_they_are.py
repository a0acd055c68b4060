"""Tables as people really have them: packed, with decimal commas, without a header, other ids."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ppro.data.files import FileSource, Layout, Reading, read_source
from ppro.data.files import guard as guard_module
from ppro.data.files.findings import findings
from ppro.data.files.schema import CategoricalColumn
from ppro.errors import DataError
from tests.data.files.support import EDGES, NODES, reading, written

pytest.importorskip("pyarrow")

PLAIN = "id,x,topic\n0,1,a\n1,2,b\n2,3,a\n3,4,b\n"


def told(
    folder: Path, nodes: str = PLAIN, edges: str = "source,target\n0,1\n", **layout: Any
) -> str:
    return "\n".join(reading(folder, nodes, edges, **layout).notes)


def packed(folder: Path, nodes: str = NODES, edges: str = EDGES) -> FileSource:
    folder.mkdir(exist_ok=True)
    for name, text in (("nodes", nodes), ("edges", edges)):
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    first, second = folder / "nodes.csv.gz", folder / "edges.csv.gz"
    return FileSource(nodes=str(first), edges=str(second), layout=Layout(label="topic"))


def test_packed_tables_are_read_as_plain_ones(tmp_path: Path) -> None:
    found, plain = read_source(packed(tmp_path / "people")), reading(tmp_path / "people")
    assert found.graph.name == "people"
    assert found.schema == plain.schema
    assert torch.equal(found.graph.edge_index, plain.graph.edge_index)
    assert torch.equal(found.graph.features.to_dense(), plain.graph.features.to_dense())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"id,x,topic\n", "not a readable gzip file"),
        (gzip.compress(NODES.encode())[:30], "not a readable gzip file"),
        (gzip.compress(b""), "the packed file is empty"),
        (gzip.compress(b"id,x,topic\n0,1,\xff\n"), "not UTF-8"),
    ],
    ids=["plain", "cut", "empty", "latin"],
)
def test_damaged_packed_tables(tmp_path: Path, content: bytes, why: str) -> None:
    source = packed(tmp_path)
    (tmp_path / "nodes.csv.gz").write_bytes(content)
    with pytest.raises(DataError, match=why):
        read_source(source)


def test_a_packed_table_that_unpacks_to_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = packed(tmp_path, nodes=NODES + "\n" * 2**20)
    assert (tmp_path / "nodes.csv.gz").stat().st_size < 2**12
    monkeypatch.setattr(guard_module, "MAX_BYTES", 2**16)
    with pytest.raises(DataError, match="reads at most"):
        read_source(source)


def test_decimal_commas_are_numbers(tmp_path: Path) -> None:
    nodes = "id;a;b;topic\n0;1,5;1,234;x\n1;-2;2,500;y\n2;;3,000;x\n"
    found = reading(tmp_path, nodes, "source;target;weight\n0;1;0,5\n1;2;2\n", scale="none")
    assert [column.kind for column in found.schema.columns] == ["numeric", "numeric"]
    assert found.graph.features.to_dense()[:, 2].tolist() == pytest.approx([1.234, 2.5, 3])
    assert found.graph.features.to_dense()[:, 0].tolist() == pytest.approx([1.5, -2, -0.25])
    assert found.graph.edge_weight is not None
    assert found.graph.edge_weight.tolist() == [0.5, 0.5, 2, 2]
    assert "2 columns (a, b): decimal commas, read as numbers" in "\n".join(found.notes)


def test_decimal_commas_apply_to_a_new_table_too(tmp_path: Path) -> None:
    schema = reading(tmp_path, "id,a,topic\n0,1.5,x\n1,2.5,y\n", "u,v\n0,1\n").schema
    new = reading(tmp_path, "id;a\n0;1,5\n1;2,5\n", "u,v\n0,1\n", schema)
    assert new.graph.features[:, 0].tolist() == pytest.approx([-1, 1])


def test_a_wrong_cell_among_decimal_commas(tmp_path: Path) -> None:
    rows = "".join(f"{k};{k},5;{'xy'[k % 2]}\n" for k in range(20))
    with pytest.raises(DataError, match="row 21, column a: 'much' is not a number"):
        reading(tmp_path, f"id;a;topic\n{rows}20;much;x\n", "u,v\n0,1\n")


def test_thousands_are_not_taken_for_decimals(tmp_path: Path) -> None:
    nodes = 'id,a,topic\n0,"1,500",x\n1,"2,000",y\n'
    found = reading(tmp_path, nodes, "u,v\n0,1\n")
    assert [column.kind for column in found.schema.columns] == ["categorical"]
    assert "may be decimal or part thousands" in "\n".join(found.notes)


@pytest.mark.parametrize("sign", [",", " ", "\t", ";"])
def test_an_edge_list_without_header(tmp_path: Path, sign: str) -> None:
    edges = "".join(f"{u}{sign}{v}\n" for u, v in ((0, 1), (1, 2), (2, 3)))
    found = reading(tmp_path, PLAIN, edges)
    assert found.graph.num_edges == 3
    assert found.edges.listed == 3
    assert "no header, it seems: its first row 0, 1 is taken for an edge" in found.notes[0]
    again = reading(tmp_path, PLAIN, edges, found.schema)
    assert torch.equal(again.graph.edge_index, found.graph.edge_index)
    named = reading(tmp_path, PLAIN, "src,dst\n0,1\n", found.schema)
    assert named.graph.num_edges == 1


def test_more_columns_of_an_edge_list_without_header(tmp_path: Path) -> None:
    edges = "3,3,0.5\n0,1,2\n1,2,4\n"
    assert "columns column_3" not in told(tmp_path, PLAIN, edges)
    assert "column column_3 is not used; --weight NAME" in told(tmp_path, PLAIN, edges)
    weight = reading(tmp_path, PLAIN, edges, weight="column_3").graph.edge_weight
    assert weight is not None
    assert weight.tolist() == [2, 2, 4, 4]


def test_numbers_as_header_of_other_ids_stay_a_header(tmp_path: Path) -> None:
    found = reading(tmp_path, PLAIN, "8,9\n0,1\n")
    assert found.graph.num_edges == 1


@pytest.mark.parametrize(("node", "edge"), [("{:05}", "{}"), ("{}", "{:03}"), ("{}", "{}.0")])
def test_ids_that_are_the_same_number(tmp_path: Path, node: str, edge: str) -> None:
    nodes = "id,x,topic\n" + "".join(f"{node.format(k)},{k},{'ab'[k % 2]}\n" for k in range(12))
    edges = "u,v\n" + "".join(f"{edge.format(k)},{edge.format(k + 1)}\n" for k in range(11))
    found = reading(tmp_path, nodes, edges)
    assert found.graph.edge_index[:, :3].tolist() == [[0, 1, 1], [1, 0, 2]]
    assert f"ids such as {edge.format(0)!r} are taken for {node.format(0)!r}" in found.notes[0]


def test_ids_that_could_be_two_nodes(tmp_path: Path) -> None:
    nodes = "id,x,topic\n0,1,a\n00,2,b\n1,3,a\n"
    assert reading(tmp_path, nodes, "u,v\n00,1\n").graph.edge_index.tolist() == [[1, 2], [2, 1]]
    with pytest.raises(DataError, match=r"no node has the id '0.0' .* \(nodes.csv has '0', '00'"):
        reading(tmp_path, nodes, "u,v\n0.0,1\n")


def test_a_column_of_many_texts_can_be_added(tmp_path: Path) -> None:
    nodes = "id,x,city,topic\n" + "".join(f"{k},{k},c{k % 7},{'ab'[k % 2]}\n" for k in range(14))
    edges = "u,v\n0,1\n"
    found = reading(tmp_path, nodes, edges, max_categories=3)
    assert [column.name for column in found.schema.columns] == ["x"]
    hint = "7 different texts; --add-features 'city' uses the 3 most frequent, --max-categories 7"
    assert f"column city is left out: {hint} all of them" in found.notes
    more = reading(tmp_path, nodes, edges, max_categories=3, add_features=("city",))
    assert [column.name for column in more.schema.columns] == ["x", "city"]
    city = more.schema.columns[1]
    assert isinstance(city, CategoricalColumn)
    assert (len(city.categories), city.other) == (3, True)
    both = reading(tmp_path, nodes, edges, features=("city",), add_features=("x",))
    assert {column.name for column in both.schema.columns} == {"x", "city"}


def test_a_weight_is_used_where_there_is_one(tmp_path: Path) -> None:
    edges = "source,target,Weight,kind,since\n0,1,2,a,1\n1,2,0.5,b,2\n"
    found = reading(tmp_path, PLAIN, edges)
    assert found.graph.edge_weight is not None
    assert found.graph.edge_weight.tolist() == [2, 2, 0.5, 0.5]
    assert found.schema.weight == "Weight"
    notes = "\n".join(found.notes)
    assert "column Weight weighs the edges (--weight none leaves it out)" in notes
    assert "columns kind, since are not used" in notes
    assert "kind, since are not used" in "\n".join(findings(found))
    plain = reading(tmp_path, PLAIN, edges, weight="none")
    assert plain.graph.edge_weight is None
    assert plain.schema.weight is None
    new = reading(tmp_path, PLAIN, edges, plain.schema)
    assert new.graph.edge_weight is None, "as it was trained"


@pytest.mark.parametrize("cell", ["0", "-1", "", "heavy"])
def test_a_weight_that_is_none_is_told_of(tmp_path: Path, cell: str) -> None:
    edges = f"source,target,weight\n0,1,2\n1,2,{cell}\n"
    found = reading(tmp_path, PLAIN, edges)
    assert found.graph.edge_weight is None
    assert "column weight is no weight of the edges" in "\n".join(found.notes)


def test_whole_numbers_that_look_like_regression(tmp_path: Path) -> None:
    nodes = "id,x,topic\n" + "".join(f"{k},{k % 5},{k // 2}\n" for k in range(200))
    assert "100 different values for 200 labelled nodes look like regression" in told(
        tmp_path, nodes
    )
    names = "id,x,topic\n" + "".join(f"{k},{k % 5},name{k // 2}\n" for k in range(200))
    assert "hardly any class can be learned" in told(tmp_path, names)
    few = "id,x,topic\n" + "".join(f"{k},{k % 5},{k % 60}\n" for k in range(1300))
    assert "regression" not in told(tmp_path, few)


@pytest.mark.parametrize("sign", ["|", ";", ", "])
def test_labels_that_look_like_several(tmp_path: Path, sign: str) -> None:
    labels = ["A", "B", f"A{sign}B", "C", f"B{sign}C", f"A{sign}B"]
    nodes = "id,x,topic\n" + "".join(f'{k},{k},"{name}"\n' for k, name in enumerate(labels))
    found = told(tmp_path, nodes)
    assert f"looks like several labels a node ('A{sign}B')" in found
    nodes = f'id,x,topic\n0,1,A\n1,2,B\n2,3,"A{sign}B"\n'
    assert "looks like several labels" in told(tmp_path, nodes)
    names = ["Rome, Italy", "Bonn, Germany", "Oslo"] * 2
    nodes = "id,x,topic\n" + "".join(f'{k},{k},"{name}"\n' for k, name in enumerate(names))
    assert "several labels" not in told(tmp_path, nodes)


def test_a_directed_graph_is_told_of(tmp_path: Path) -> None:
    directed = "u,v\n0,1\n1,0\n1,2\n2,3\n"
    assert "2 edges (50%) have no opposite one" in told(tmp_path, PLAIN, directed)
    assert "--set direction=in" in told(tmp_path, PLAIN, directed)
    assert "directed" not in told(tmp_path, PLAIN, "u,v\n0,1\n1,2\n")
    assert "directed" not in told(tmp_path, PLAIN, "u,v\n0,1\n1,0\n")


def test_a_new_graph_needs_no_edges(tmp_path: Path) -> None:
    schema = reading(tmp_path, PLAIN, "u,v\n0,1\n").schema
    for edges in ("u,v\n", "u,v\n1,1\n"):
        new = reading(tmp_path, PLAIN, edges, schema)
        assert new.graph.num_edges == 0
        assert "no edge between two different nodes: each is predicted by itself" in new.notes
    with pytest.raises(DataError, match="a header and no rows"):
        reading(tmp_path, PLAIN, "u,v\n")


def test_an_unknown_kind_of_table(tmp_path: Path) -> None:
    nodes, edges = written(tmp_path)
    source = FileSource(nodes=str(nodes.rename(tmp_path / "n.xlsx")), edges=str(edges))
    with pytest.raises(
        DataError, match=r"unknown kind of table; save it as \.csv, \.tsv, \.csv\.gz"
    ):
        read_source(source)


def test_weights_far_from_one_are_told_of(tmp_path: Path) -> None:
    edges = "source,target,weight\n0,1,200\n1,2,400\n"
    assert "weights of 300 on average" in "\n".join(findings(reading(tmp_path, PLAIN, edges)))


def test_arrays_without_use_are_told_of(tmp_path: Path) -> None:
    parts: dict[str, Any] = {
        "x": np.eye(4),
        "y": np.arange(4) % 2,
        "edge_index": np.array([[0, 1], [1, 2]]),
    }
    np.savez(tmp_path / "g.npz", **parts, edge_attr=np.ones((2, 3)))
    found = read_source(FileSource(graph=str(tmp_path / "g.npz")))
    assert "array edge_attr is not used" in "\n".join(found.notes)


def test_the_column_of_the_ids_is_found_for_the_message(tmp_path: Path) -> None:
    nodes = "package,kind,topic\nzsh,shell,a\nbash,shell,b\nvim,editor,a\n"
    with pytest.raises(
        DataError, match="column 'package' of the nodes has it: give --id 'package'"
    ):
        reading(tmp_path, nodes, "source,target\nzsh,bash\nzsh,ash\n")
    with pytest.raises(DataError, match="name the column that holds the ids"):
        reading(tmp_path, nodes, "source,target\nshell,editor\n")


TURNED = (2, 0, 3, 1)
"""The ids of four rows, in an order that is not that of the rows."""


def turned(header: str) -> str:
    rows = (f"{k},{k / 7},{'xy'[k % 2]}\n" for k in TURNED)
    return f"{header},a,topic\n{''.join(rows)}"


def names_of_edges(found: Reading) -> set[tuple[str, str]]:
    ids = found.graph.node_ids
    assert ids is not None
    return {(ids[u], ids[v]) for u, v in found.graph.edge_index.T.tolist()}


@pytest.mark.parametrize("name", ["ID", "Node_ID", "user_id", "Name", "", "Unnamed: 0"])
def test_columns_of_ids_are_known_by_their_names_and_the_edges(tmp_path: Path, name: str) -> None:
    found = reading(tmp_path, turned(name), "Source,Target\n0,1\n2,3\n")
    assert names_of_edges(found) == {("0", "1"), ("1", "0"), ("2", "3"), ("3", "2")}
    assert [column.name for column in found.schema.columns] == ["a"]
    new = reading(tmp_path, turned(name), "Source,Target\n0,1\n2,3\n", found.schema)
    assert new.graph.node_ids == found.graph.node_ids


def test_a_column_of_ids_by_another_name(tmp_path: Path) -> None:
    note = "but column rank holds every end of the edges too; if it has the ids: --id 'rank'"
    assert note in told(tmp_path, turned("rank"))
    edges = "source,target\nn0,n1\nn2,n3\n"
    named = turned("person").replace("\n", "\nn")[:-1]
    found = reading(tmp_path, named, edges)
    assert found.graph.node_ids == ("n2", "n0", "n3", "n1")
    assert "column person holds every end of the edges and is taken for the ids" in found.notes[0]


def test_ids_found_by_the_edges_are_taken_as_text(tmp_path: Path) -> None:
    nodes = turned("user_id").replace("\n", "\n00")[:-2]
    found = reading(tmp_path, nodes, "000,001\n002,003\n")
    assert found.graph.node_ids == ("002", "000", "003", "001")
    assert found.edges.listed == 2


def test_a_column_named_id_that_lacks_an_end_is_a_feature(tmp_path: Path) -> None:
    found = reading(tmp_path, turned("grid"), "source,target\n0,1\n").schema
    assert found.id == "grid"
    other = "grid,a,topic\n5,1,x\n6,2,y\n7,3,x\n"
    found = reading(tmp_path, other, "source,target\n0,1\n").schema
    assert (found.id, [column.name for column in found.columns]) == (None, ["grid", "a"])


def test_the_index_of_a_frame_is_no_feature_and_no_end(tmp_path: Path) -> None:
    nodes = ",id,a,topic\n0,n0,1,x\n1,n1,5,y\n2,n2,7,x\n"
    found = reading(tmp_path, nodes, ",u,v\n0,n0,n1\n1,n1,n2\n")
    assert [column.name for column in found.schema.columns] == ["a"]
    assert found.graph.num_edges == 2
    assert "column Unnamed: 0 is left out: the index of a pandas frame" in found.notes[0]
    assert len(found.notes) == 1


def test_numbers_of_rows_are_no_feature(tmp_path: Path) -> None:
    rows = "".join(f"n{k},{k + 1},{k % 5},{'xy'[k % 2]}\n" for k in range(30))
    edges = "source,target\nn0,n1\n"
    found = reading(tmp_path, f"id,place,a,topic\n{rows}", edges)
    assert [column.name for column in found.schema.columns] == ["a"]
    note = "column place is left out: it numbers the rows; --add-features 'place' keeps it"
    assert note in found.notes
    kept = reading(tmp_path, f"id,place,a,topic\n{rows}", edges, add_features=("place",))
    assert [column.name for column in kept.schema.columns] == ["place", "a"]


def test_ends_of_unusual_names_are_told_of(tmp_path: Path) -> None:
    edges = "number,Source,Target\n3,0,1\n2,1,2\n"
    assert reading(tmp_path, PLAIN, edges).graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    edges = edges.replace("Source", "a").replace("Target", "b")
    assert "columns number and a, the first two, are taken" in told(tmp_path, PLAIN, edges)


def test_columns_with_bars_between_them(tmp_path: Path) -> None:
    found = reading(tmp_path, PLAIN.replace(",", "|"), "source|target\n0|1\n")
    assert [column.name for column in found.schema.columns] == ["x"]
