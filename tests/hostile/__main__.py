"""``python -m tests.hostile``: run the corpus, tell what went wrong, write the table."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from ppro.files import markdown_table, write_text
from tests.hostile.corpus import cases, write_seeds
from tests.hostile.running import Ended, run

MARK = "<!-- made by make hostile -->"


def main() -> None:
    """Run all cases, or those whose group and name hold a word."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--page", type=Path, help="page whose table is written anew")
    chosen = parser.parse_args()
    ended = []
    with tempfile.TemporaryDirectory(prefix="hostile-") as place:
        root = Path(place)
        (root / "seeds").mkdir()
        write_seeds(root / "seeds")
        for number, case in enumerate(cases(root / "seeds", chosen.seed, chosen.each)):
            if chosen.only not in f"{case.group}: {case.name}":
                continue
            folder = root / str(number)
            ended.append(run(case, folder))
            if problem := ended[-1].problem:
                print(f"{case.group}: {case.name}: {problem}\n{ended[-1].err[-600:]}", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
    table = _table(ended)
    print(table)
    if chosen.page is not None:
        before, _, after = chosen.page.read_text(encoding="utf-8").partition(MARK)
        _, _, rest = after.partition(MARK)
        write_text(chosen.page, f"{before}{MARK}\n\n{table}\n\n{MARK}{rest}")
    sys.exit(any(one.problem for one in ended))


def _table(ended: list[Ended]) -> str:
    groups: dict[str, list[Ended]] = defaultdict(list)
    for one in ended:
        groups[one.case.group].append(one)
    rows = [_row(group, found) for group, found in groups.items()]
    head = ["what was spoiled", "cases", "refused in one line", "accepted", "wrong"]
    head += ["longest, s", "most memory, MiB"]
    return markdown_table(head, [*rows, _row("all", ended)])


def _row(group: str, ended: list[Ended]) -> list[str]:
    sound = [one for one in ended if not one.problem]
    refused = sum(one.status == 2 for one in sound)
    numbers = [len(ended), refused, len(sound) - refused, len(ended) - len(sound)]
    most = [max((one.seconds for one in ended), default=0)]
    memory = max((one.memory for one in ended), default=0) / 2**20
    return [group, *map(str, numbers), f"{most[0]:.1f}", f"{memory:.0f}"]


if __name__ == "__main__":
    main()
