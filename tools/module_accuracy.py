"""Compare the README's own loop with ``ppro train``: accuracy over several seeds each.

Run: PPRO_DATA=FOLDER python tools/module_accuracy.py [--seeds 10]; without PPRO_DATA it downloads.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from ppro.processes import run_module

RECIPE = "cora-l2b-paper"
README = Path(__file__).parents[1] / "README.md"


def loop() -> str:
    """Return the README's loop."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if "ppro.nn.PPro" in block)


def accuracy(seed: int) -> float:
    """Return the test accuracy of the loop with another seed, in percent."""
    names: dict[str, Any] = {}
    exec(loop().replace("manual_seed(0)", f"manual_seed({seed})"), names)  # noqa: S102 - our own
    return 100 * float(names["best"][3])


def main() -> None:
    """Print the mean and deviation of the loop, then what ``ppro train`` says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    with tempfile.TemporaryDirectory() as folder:
        words = ["train", "cora", "--recipe", RECIPE, "--runs", str(seeds)]
        words += ["--out", f"{folder}/run"]
        if run_module("ppro", words).returncode:
            sys.exit("ppro train failed; the lines above say why")
    found = [accuracy(seed) for seed in range(seeds)]
    deviation = statistics.stdev(found) if seeds > 1 else 0.0
    print(
        f"the README's loop    {statistics.mean(found):.2f} ± {deviation:.2f} % over {seeds} seeds"
    )


if __name__ == "__main__":
    main()
