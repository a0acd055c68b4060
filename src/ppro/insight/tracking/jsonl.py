"""Metrics to a JSONL file while training."""

from pathlib import Path

from torch import Tensor

from ppro.errors import RunError
from ppro.files import dump_json
from ppro.insight.tracking.base import Facts, means
from ppro.training.stopping import History


class JsonLines:
    """A line for every epoch, as soon as it is over: ``tail -f`` shows how training goes.

    Args:
        path: the file; an older one is replaced.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.file = path.open("w", encoding="utf-8")
        except OSError as error:
            reason = f"cannot be written ({error.strerror})"
            raise RunError(f"{path}: {reason}; choose another file for the metrics") from None

    def on_epoch(self, epoch: int, metrics: Tensor, active: int) -> None:
        """Write the means of an epoch."""
        line = {"epoch": epoch, "runs": active, **means(metrics)}
        self.file.write(dump_json(line) + "\n")
        self.file.flush()

    def finish(self, history: History, facts: Facts, folder: Path) -> None:
        """Nothing is left to tell: the run folder holds every run."""

    def close(self) -> None:
        """Close the file."""
        self.file.close()
