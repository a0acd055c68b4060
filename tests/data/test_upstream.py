from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ppro.data.fetch import download
from ppro.data.records import RawFile
from ppro.data.storage import Unavailable

CONTENT = bytes(range(256)) * 1000


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_good_file_arrives(
    server: Any, isolated: Path, make_file: Callable[..., RawFile]
) -> None:
    server.pages["/a"] = CONTENT
    download([make_file("deep/a.bin", CONTENT, f"{server.url}/a")], isolated)
    assert (isolated / "deep/a.bin").read_bytes() == CONTENT
    assert left(isolated) == ["a.bin"]


def test_wrong_bytes_are_refused(
    server: Any, isolated: Path, make_file: Callable[..., RawFile]
) -> None:
    server.pages["/a"] = CONTENT + b"!"
    with pytest.raises(Unavailable, match=r"a\.bin from 127\.0\.0\.1.*hash"):
        download([make_file("a.bin", CONTENT, f"{server.url}/a")], isolated)
    assert left(isolated) == []


def test_a_connection_dropped_half_way_leaves_no_file(
    server: Any, isolated: Path, make_file: Callable[..., RawFile]
) -> None:
    server.pages["/a"] = CONTENT
    server.cut.add("/a")
    with pytest.raises(Unavailable, match=r"a\.bin"):
        download([make_file("a.bin", CONTENT, f"{server.url}/a")], isolated)
    assert left(isolated) == []


def test_the_first_failure_ends_the_attempt(
    server: Any, isolated: Path, make_file: Callable[..., RawFile]
) -> None:
    files = [make_file(f"{i}", CONTENT, f"{server.url}/{i}") for i in range(8)]
    with pytest.raises(Unavailable, match="404"):
        download(files, isolated)
    assert server.asked == ["/0"]


def test_a_refused_connection_is_unavailable(
    isolated: Path, make_file: Callable[..., RawFile]
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/a"
        with pytest.raises(Unavailable, match="ConnectionError"):
            download([make_file("a", CONTENT, url)], isolated)


def test_a_file_without_an_address(isolated: Path, make_file: Callable[..., RawFile]) -> None:
    with pytest.raises(Unavailable, match="no upstream address"):
        download([make_file("a", CONTENT)], isolated)
