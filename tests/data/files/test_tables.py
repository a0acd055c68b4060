from __future__ import annotations

from pathlib import Path

import pytest

from ppro.data.files import FileSource, Layout, read_source
from ppro.data.files import tables as module
from ppro.data.files.tables import FileTable
from ppro.errors import DataError
from tests.data.files.support import reading, written

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pc = pytest.importorskip("pyarrow.csv")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_separators_and_a_byte_order_mark(tmp_path: Path, separator: str, start: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{start}id{separator}x\na{separator}1\n", encoding="utf-8")
    assert FileTable(path).columns() == ["id", "x"]
    assert FileTable(path).read({"id"}).to_dict("list") == {"id": ["a"], "x": [1]}


def test_quoted_cells_may_hold_anything(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,x\n"a\nb, c",1\n')
    assert FileTable(path).read(())["id"].tolist() == ["a\nb, c"]


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('id;"a, b, c, d";x\n1;2;3\n', ["id", "a, b, c, d", "x"]),
        ("id, x\n1, 2\n", ["id", "x"]),
        ("sep=;\nid;x\n1;2\n", ["id", "x"]),
        ("# 1 node, made, today\n# id\tx\n1\t2\n", ["id", "x"]),
        ("% of, all\n%\nid;x\n1;2\n", ["id", "x"]),
        ("#id,x\n1,2\n", ["id", "x"]),
        ("#,x\n1,2\n", ["#", "x"]),
    ],
    ids=["quoted", "spaces", "excel", "comments", "percent", "sharp", "number"],
)
def test_headers_as_programs_write_them(
    tmp_path: Path, start: str, text: str, names: list[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(start + text, encoding="utf-8")
    assert FileTable(path).columns() == names
    assert FileTable(path).read(()).to_numpy().tolist() == [list(range(1, len(names) + 1))]


def test_rows_are_counted_below_comments(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("# made today\n# id\tx\n1\t2\n1\t2\t3\n")
    with pytest.raises(DataError, match="row 2: 3 cells for the 2 columns of the header"):
        FileTable(path).read(())


def test_parquet_gives_the_graph_of_the_csv(tmp_path: Path) -> None:
    nodes, edges = written(tmp_path)
    for path in (nodes, edges):
        pq.write_table(pc.read_csv(path), path.with_suffix(".parquet"))
    source = FileSource(
        nodes=str(nodes.with_suffix(".parquet")),
        edges=str(edges.with_suffix(".parquet")),
        layout=Layout(label="topic"),
    )
    assert read_source(source).graph.features.tolist() == reading(tmp_path).graph.features.tolist()
    assert read_source(source).schema == reading(tmp_path).schema


def test_ids_of_parquet_are_whole_numbers_or_text(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1.0, None], "b": [1, 2], "c": [0.5, 1]}), path)
    frame = FileTable(path).read(("a", "b", "c"))
    assert frame["a"].tolist() == ["1", ""]
    assert frame["b"].tolist() == ["1", "2"]
    assert frame["c"].tolist() == ["0.5", "1.0"]


def test_dictionary_columns_are_text(tmp_path: Path) -> None:
    nodes = pa.table({"id": ["a", "b"], "c": pa.array(["u", "v"]).dictionary_encode(), "y": [0, 1]})
    pq.write_table(nodes, tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    paths = {name: str(tmp_path / name) for name in ("nodes.parquet", "edges.csv")}
    source = FileSource(nodes=paths["nodes.parquet"], edges=paths["edges.csv"])
    assert read_source(source).graph.features.to_dense().tolist() == [[1, 0], [0, 1]]


def test_a_parquet_file_that_unpacks_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [7] * 100_000}), path)
    monkeypatch.setattr("ppro.data.files.guard.MAX_BYTES", 100_000)
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match=r"a.parquet: 800,000 bytes, and PPro reads at most"):
        FileTable(path).read(())


def test_without_arrow_there_is_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(module, "import_module", absent)
    with pytest.raises(DataError, match=r"pip install 'ppro\[tables\]'"):
        module.arrow("pyarrow")


def test_an_unknown_suffix(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    with pytest.raises(DataError, match=r"a.json: unknown kind of table; save it as .csv"):
        FileTable(path).columns()
