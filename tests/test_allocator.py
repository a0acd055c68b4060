import subprocess
import sys

import pytest

from ppro import allocator

COUNT_FAULTS = """
import resource, sys, torch
from ppro.allocator import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
torch.empty(16_000_000).fill_(1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    torch.empty(16_000_000).fill_(1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(mode: str) -> int:
    command = [sys.executable, "-c", COUNT_FAULTS, mode]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the GNU C library is on Linux")
def test_large_blocks_are_used_again_without_page_faults() -> None:
    assert faults("keep") < faults("plain") / 10


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert not allocator.keep_freed_memory()
