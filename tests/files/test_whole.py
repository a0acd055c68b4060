"""Writing: never in the place of what is not a regular file, and on the disk when it is done."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ppro.files import STAGED, staged, whole_file, whole_folder, write_text

LEAVE_HALF = """
import sys, time
from pathlib import Path
from ppro.files import staged
with staged(Path(sys.argv[1]), folder=sys.argv[2] == "folder") as part:
    print("ready", flush=True)
    time.sleep(60)
"""


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "a" / "file", tmp_path / "link"
    link.symlink_to(target)
    write_text(link, "new")
    write_text(link, "newer")
    assert link.is_symlink()
    assert target.read_text() == "newer"


def test_a_pipe_gets_the_content_and_stays(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    text = "x" * 300_000
    deadline = time.monotonic() + 20
    while not got and time.monotonic() < deadline:
        try:
            write_text(pipe, text)
            break
        except OSError:  # the reader is not there yet
            time.sleep(0.01)
    reader.join(20)
    assert got == [text]
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_pipe_that_nobody_reads_is_an_error_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        write_text(tmp_path / "pipe", "x")


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    if not Path("/dev/full").is_char_device():
        pytest.skip("no /dev/full")
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_text(link, "x")
    write_text(Path("/dev/null"), "x")
    assert Path("/dev/full").is_char_device()
    assert Path("/dev/null").is_char_device()


def test_standard_output_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from ppro.files import write_text; print('a', flush=True); "
        "write_text(Path('/dev/stdout'), 'b\\n'); print('c', flush=True)"
    )
    with (tmp_path / "log").open("ab") as log:
        subprocess.run([sys.executable, "-c", code], stdout=log, check=True)
    assert (tmp_path / "log").read_text().split() == ["a", "b", "c"]


def test_a_socket_and_a_folder_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        with pytest.raises(OSError, match="neither a file nor a stream"):
            write_text(Path("s"), "x")
        assert Path("s").is_socket()
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "x")


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path, kind: str) -> None:
    command = [sys.executable, "-c", LEAVE_HALF, str(tmp_path), kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        write_text(tmp_path / "file", "x")
        # It lives, and so does what it writes.
        assert len(list(tmp_path.glob(f"{STAGED}*"))) == 1
        process.send_signal(signal.SIGKILL)
    write_text(tmp_path / "file", "y")
    assert os.listdir(tmp_path) == ["file"]


def test_everything_is_on_the_disk_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    fsync, replace = os.fsync, os.replace

    def note_fsync(handle: int) -> None:
        told.append(f"flush {Path(os.readlink(f'/proc/self/fd/{handle}')).name}")
        fsync(handle)

    def note_replace(old: Path, new: Path) -> None:
        told.append(f"name {Path(new).name}")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    for out in ("run", "there"):
        told.clear()
        (tmp_path / "there").mkdir(exist_ok=True)
        with whole_folder(tmp_path / out) as folder:
            (folder / "settings.toml").touch()
            (folder / "below").mkdir()
            (folder / "below" / "weights").touch()
        name = told.index(f"name {'run' if out == 'run' else 'settings.toml'}")
        assert {"flush settings.toml", "flush weights", "flush below"} <= set(told[:name])
        assert told[-1] == f"flush {tmp_path.name if out == 'run' else 'there'}"
        assert f"name {out}" in told or told[name - 1] == "flush there"
    told.clear()
    with whole_file(tmp_path / "file") as part:
        stage = part.name
    assert told == [f"flush {stage}", "name file", f"flush {tmp_path.name}"]


def test_a_disk_that_is_full_when_flushed_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_text(tmp_path / "file", "old")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_text(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_is_staged_is_gone_when_the_block_ends(tmp_path: Path) -> None:
    with staged(tmp_path, folder=True) as one, staged(tmp_path, folder=False) as other:
        assert one.is_dir()
        assert other.is_file()
    assert os.listdir(tmp_path) == []
