"""The runs of an experiment that are done before all of them are, so that a stop loses few."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from ppro.files import remove_empty, whole_file
from ppro.search.batches import Done, Job

FOLDER = "unfinished"
"""Its place in the folder of results, there only while an experiment has begun and not ended."""
_TENSORS = "steps", "priorities", "curve"
_NUMBERS = tuple(f.name for f in fields(Done) if f.name not in ("job", *_TENSORS))


class Unfinished:
    """Runs kept in a folder, a file for each batch.

    Args:
        facts: what all runs of the experiment share beside their settings: graph, split, device.
            Files with other facts are left alone.
    """

    def __init__(self, folder: Path, facts: Mapping[str, Any]) -> None:
        self.folder = folder
        self.seconds = 0.0
        """What it took to train the runs that were found."""
        self._facts = json.dumps(facts, sort_keys=True)
        self._found: dict[str, dict[str, Any]] = {}
        for path in sorted(folder.glob("*.safetensors")):
            # A damaged file costs the runs in it: they train once more.
            with suppress(OSError, SafetensorError, ValueError, KeyError, TypeError):
                self._read(path)
        self._since = time.perf_counter()

    def _read(self, path: Path) -> None:
        with safe_open(path, "pt") as file:
            kept = json.loads(file.metadata()["kept"])
            if kept["facts"] != self._facts:
                return
            found = {
                key: {**numbers, **{name: file.get_tensor(f"{i}.{name}") for name in _TENSORS}}
                for i, (key, numbers) in enumerate(kept["runs"].items())
            }
        self._found |= found
        self.seconds += kept["seconds"]

    def take(self, job: Job) -> Done | None:
        """Return a run if it is done."""
        values = self._found.get(_key(job))
        return None if values is None else Done(job, **values)

    def put(self, runs: Sequence[Done]) -> None:
        """Keep a batch."""
        now = time.perf_counter()
        kept = {
            "facts": self._facts,
            "seconds": now - self._since,
            "runs": {_key(done.job): {n: getattr(done, n) for n in _NUMBERS} for done in runs},
        }
        tensors = {
            f"{i}.{name}": getattr(done, name).contiguous()
            for i, done in enumerate(runs)
            for name in _TENSORS
        }
        file = sha256("".join(kept["runs"]).encode()).hexdigest()[:16]  # type: ignore[arg-type]
        with whole_file(self.folder / f"{file}.safetensors") as part:
            save_file(tensors, part, {"kept": json.dumps(kept)})
        self._since = now

    def clear(self) -> None:
        """Forget all: the experiment has its own file."""
        rmtree(self.folder, ignore_errors=True)
        remove_empty([self.folder.parent])


def _key(job: Job) -> str:
    return json.dumps([job.row, job.settings.flat()], sort_keys=True)
