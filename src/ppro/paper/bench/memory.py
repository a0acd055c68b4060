"""Peak memory of one training step, measured in a process of its own."""

import json
import sys
from pathlib import Path

import torch

from ppro.errors import PProError
from ppro.paper.bench.cases import Case, bench_graph
from ppro.paper.bench.measure import our_epoch
from ppro.processes import run_module

_STATUS = Path("/proc/self/status")


def peak_of_step(case: Case, device: str) -> float:
    """MiB that an epoch needs at its peak beyond what the process held before it."""
    words = [case.graph, str(case.form), str(case.max_steps), case.strategy, device]
    # With a fixed threshold, freed blocks go back to the system and RSS follows what is alive.
    env = {"MALLOC_MMAP_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"}
    done = run_module("ppro.paper.bench.memory", words, capture_output=True, env=env)
    if done.returncode != 0:
        raise PProError(f"the memory measurement failed: {done.stderr.strip()[-300:]}")
    return float(json.loads(done.stdout)["mib"])


def _measure(case: Case, device: torch.device) -> float:
    epoch = our_epoch(case, *bench_graph(case.graph), device)
    for _ in range(2):
        epoch()
    if device.type == "cuda":
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        epoch()
        return float(torch.cuda.max_memory_allocated() - before) / 2**20
    before = status_kib("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    epoch()
    return (status_kib("VmHWM") - before) / 1024


def status_kib(key: str) -> int:
    """Return a size that the system notes of this process, in KiB: VmRSS, VmHWM …

    Raises:
        PProError: the system is not Linux.
    """
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1])
    raise PProError(f"{_STATUS} has no {key}; peak memory can be read on Linux only")


if __name__ == "__main__":
    graph, form, steps, strategy, place = sys.argv[1:]
    measured = Case(graph, form, int(steps), strategy)  # type: ignore[arg-type]
    torch.set_num_threads(1)
    print(json.dumps({"mib": _measure(measured, torch.device(place))}))
