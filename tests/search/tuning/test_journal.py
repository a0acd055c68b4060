from __future__ import annotations

from pathlib import Path

import pytest

from ppro.errors import RunError
from ppro.search.tuning.journal import cut_torn_line, open_journal
from tests.search.tuning.support import session


def test_a_line_that_was_not_written_whole_is_cut(tmp_path: Path) -> None:
    worker = session(tmp_path)
    before = len(worker.study.study.get_trials())
    path = tmp_path / "small.journal"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"op_code":4,"wor')
    again = session(tmp_path)
    again.study.study.set_user_attr("some", "thing")
    assert path.read_bytes().startswith(whole)
    assert path.read_bytes().endswith(b"\n")
    assert len(session(tmp_path).study.study.get_trials()) == before


@pytest.mark.parametrize(("content", "left"), [(b"", b""), (b"abc", b""), (b"a\nb\n", b"a\nb\n")])
def test_cutting(tmp_path: Path, content: bytes, left: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    cut_torn_line(path)
    assert path.read_bytes() == left


@pytest.mark.parametrize("content", [b"my notes, with no end of line", b'{"a": 1}\n', b"\0\1\2"])
def test_another_file_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(RunError, match=r"not a journal of a study; choose another --storage"):
        open_journal(path)
    assert path.read_bytes() == content


def test_a_damaged_journal_is_told(tmp_path: Path) -> None:
    session(tmp_path)
    path = tmp_path / "small.journal"
    path.write_bytes(path.read_bytes() + b"damage\n" + b'{"op_code":0}\n')
    with pytest.raises(RunError, match="is damaged; restore it"):
        open_journal(path)
