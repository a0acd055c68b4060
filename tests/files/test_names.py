"""Names that are names, and files that are files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppro.files import as_name, check_regular, is_name, read_text


@pytest.mark.parametrize("text", ["a", "a.b", "Äpfel", "..a", "a b", "x" * 200])
def test_a_name(text: str) -> None:
    assert is_name(text)
    assert as_name(text) == text


@pytest.mark.parametrize(
    "text",
    ["", ".", "..", "...", " ", ". .", "a/b", "a\\b", "/a", "a\n", "a\0", "\x1b[2J", "ä" * 101],
)
def test_no_name(text: str) -> None:
    assert not is_name(text)


@given(
    st.text(st.characters(exclude_categories=[])) | st.sampled_from(["", ".", "..", "a/../../b"])
)
def test_every_text_has_a_name_that_stays_in_its_folder(text: str) -> None:
    name = as_name(text)
    assert is_name(name)
    assert Path("folder", name).parent == Path("folder")
    name.encode()


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        check_regular(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_text(Path("/dev/zero"))
    with pytest.raises(IsADirectoryError):
        check_regular(tmp_path)


def test_a_text_has_an_end(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("ä" * 10)
    assert read_text(tmp_path / "file") == "ä" * 10
    with pytest.raises(OSError, match="larger than"):
        read_text(tmp_path / "file", 19)
