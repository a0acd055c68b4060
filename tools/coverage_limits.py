"""Fails when the tests reach too few lines or branches: ``coverage_limits.py REPORT.json``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

LIMITS = {"lines": 95.0, "branches": 90.0}
"""The least share that tests must reach, in percent."""


def shares(totals: dict[str, Any]) -> dict[str, float]:
    """Percent of lines and of branches, from the totals of a JSON report of coverage.py."""
    return {
        "lines": 100 * totals["covered_lines"] / totals["num_statements"],
        "branches": 100 * totals["covered_branches"] / totals["num_branches"],
    }


def too_low(found: dict[str, float]) -> list[str]:
    """What lies below its limit."""
    return [what for what, share in found.items() if share < LIMITS[what]]


def main() -> None:
    """Print the shares; exit with 1 when one is too low."""
    report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found = shares(report["totals"])
    for what, share in found.items():
        print(f"{what}: {share:.2f} % reached by tests, limit {LIMITS[what]:.0f} %")
    sys.exit(1 if too_low(found) else 0)


if __name__ == "__main__":
    main()
