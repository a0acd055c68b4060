import subprocess
import sys

import pytest

from ppro.compute import allocator

COUNT_FAULTS = """
import resource, sys, torch
from ppro.compute.allocator import keep_freed_memory
from ppro.paper.bench.cases import Case
from ppro.paper.bench.measure import our_epoch
from ppro.data import load_graph, make_splits

torch.set_num_threads(1)
if sys.argv[1] == "keep":
    assert keep_freed_memory()
graph = load_graph("csbm", options={"nodes": 200_000, "features": 16, "degree": 4})
splits = make_splits(graph, "csbm", "random-60-20-20", 1, 0)
epoch = our_epoch(Case("10m-edges", "class", 3, "none"), graph, splits, torch.device("cpu"))
for _ in range(4):
    epoch()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
epoch()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(mode: str) -> int:
    command = [sys.executable, "-c", COUNT_FAULTS, mode]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the GNU C library is on Linux")
def test_an_epoch_uses_memory_again_instead_of_fresh_pages() -> None:
    assert faults("keep") < faults("plain") / 4


RESIDENT = """
import sys, torch
from ppro.compute.allocator import keep_freed_memory, return_freed_memory
keep_freed_memory()
if sys.argv[1] == "return":
    assert return_freed_memory()
held = [torch.ones(2**24) for _ in range(6)]
del held[::2]
print(next(int(line.split()[1]) for line in open("/proc/self/status") if "VmRSS" in line))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the GNU C library is on Linux")
def test_matrices_go_back_to_the_system_on_a_large_graph() -> None:
    kept, returned = (
        int(subprocess.check_output([sys.executable, "-c", RESIDENT, mode], text=True))
        for mode in ("keep", "return")
    )
    assert kept - returned > 2 * 2**16


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert not allocator.keep_freed_memory()
    assert not allocator.return_freed_memory()
