"""Records what mutation testing found: ``mutmut results --all true | mutation.py OUT.json``.

Every mutant changes one thing in the source; a test must fail for it, which kills it.
"""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ppro.files import readable_json, write_text

LIMIT = 80.0
"""The least share of mutants that tests must kill, in percent."""

KILLED = ("killed", "timeout")


def counted(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    """Mutants per module by what became of them; a line is ``module.function__mutmut_N: status``.

    Args:
        lines: the output of mutmut.
    """
    killed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for line in filter(str.strip, lines):
        name, _, status = line.strip().rpartition(": ")
        module = name.rpartition(".x")[0]
        total[module] += 1
        killed[module] += status in KILLED
    return {
        module: {"killed": killed[module], "survived": total[module] - killed[module], "total": n}
        for module, n in sorted(total.items())
    }


def record(modules: dict[str, dict[str, int]]) -> dict[str, Any]:
    """The result as it is written: all modules together, and each of them."""
    sums = {key: sum(found[key] for found in modules.values()) for key in ("killed", "total")}
    return {
        "tool": f"mutmut {version('mutmut')}",
        "python": platform.python_version(),
        **{"killed": sums["killed"], "survived": sums["total"] - sums["killed"]},
        "total": sums["total"],
        "percent": round(100 * sums["killed"] / sums["total"], 1),
        "modules": modules,
    }


def main() -> None:
    """Write the record; exit with 1 when too few mutants were killed."""
    found = record(counted(sys.stdin))
    write_text(Path(sys.argv[1]), readable_json(found))
    print(f"{found['killed']} of {found['total']} mutants killed: {found['percent']} %")
    sys.exit(1 if found["percent"] < LIMIT else 0)


if __name__ == "__main__":
    main()
