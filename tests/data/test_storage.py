from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ppro.data.records import RawFile
from ppro.data.storage import Unavailable, cache_folder, data_folder, held_files, write_whole
from ppro.errors import DataError


def test_no_setting_means_no_folder() -> None:
    assert data_folder(None) is None


def test_the_argument_comes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.setenv("PPRO_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    assert data_folder(tmp_path / "a") == tmp_path / "a"


def test_a_folder_that_does_not_exist_is_an_error_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match="not a readable folder"):
        data_folder(tmp_path / "none")
    monkeypatch.setenv("PPRO_DATA", str(tmp_path / "none"))
    with pytest.raises(DataError, match=r"PPRO_DATA names .*none"):
        data_folder(None)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser reads every folder"
)
def test_an_unreadable_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0)
    with pytest.raises(DataError, match="not a readable folder"):
        data_folder(tmp_path / "shut")


def test_the_cache_follows_its_variable(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == isolated
    monkeypatch.delenv("PPRO_CACHE")
    assert cache_folder().name == "ppro"


def test_held_files_are_found_by_key(tmp_path: Path, make_file: Callable[..., RawFile]) -> None:
    (tmp_path / "a.txt").write_bytes(b"abc")
    assert held_files(tmp_path, [make_file("a.txt", b"abc", key="a")]) == {"a": tmp_path / "a.txt"}


def test_missing_files_are_named(tmp_path: Path, make_file: Callable[..., RawFile]) -> None:
    files = [make_file(f"{i}.txt", b"") for i in range(5)]
    with pytest.raises(Unavailable, match=r"no 0\.txt, 1\.txt and 3 more"):
        held_files(tmp_path, files)


def test_a_corrupted_file_is_one_line_with_the_remedy(
    tmp_path: Path, make_file: Callable[..., RawFile]
) -> None:
    (tmp_path / "a.txt").write_bytes(b"abd")
    with pytest.raises(DataError) as caught:
        held_files(tmp_path, [make_file("a.txt", b"abc")])
    text = str(caught.value)
    assert "\n" not in text
    assert str(tmp_path / "a.txt") in text
    assert "ba7816bf8f01..." in text
    assert "a52d159f262b..." in text
    assert "delete it or replace it" in text


def test_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    contents = [bytes([i]) * 100_000 for i in range(8)]
    target = tmp_path / "deep" / "file"

    def write_and_read(content: bytes) -> bytes:
        write_whole(target, content)
        return target.read_bytes()

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(write_and_read, contents * 5))
    assert set(seen) <= set(contents)
    assert [path.name for path in target.parent.iterdir()] == ["file"]


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write_whole(tmp_path / "file", b"abc")
    assert list(tmp_path.iterdir()) == []
