"""Metrics to TensorBoard."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor

from ppro.errors import RunError
from ppro.files import dump_json
from ppro.insight.tracking.base import SUMMARY, Facts, means, rows
from ppro.training.stopping import History


class TensorBoard:
    """Event files that ``tensorboard --logdir DIR`` shows: ``mean``, and one folder for each run.

    Args:
        folder: where to write.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise RunError(
                "TensorBoard is not installed; install it with: pip install 'ppro[tracking]'"
            ) from None
        self.folder = folder
        self._open: Callable[[str], Any] = SummaryWriter
        try:
            self.mean = self._open(str(folder / "mean"))
        except OSError as error:
            reason = f"cannot be written ({error.strerror})"
            raise RunError(f"{folder}: {reason}; choose another folder for TensorBoard") from None

    def on_epoch(self, epoch: int, metrics: Tensor, active: int) -> None:
        """Write the means of an epoch."""
        for name, value in means(metrics).items():
            self.mean.add_scalar(name, value, epoch)

    def finish(self, history: History, facts: Facts, folder: Path) -> None:
        """Write every run, and what came out."""
        writers = [
            self._open(str(self.folder / f"run-{run}")) for run in range(len(history.epochs))
        ]
        for run, epoch, values in rows(history):
            for name, value in values.items():
                writers[run].add_scalar(name, value, epoch)
        for writer in writers:
            writer.close()
        for name in SUMMARY:
            self.mean.add_scalar(f"result/{name}", facts[name], 0)
        self.mean.add_text("result", f"```json\n{dump_json(dict(facts), indent=2)}\n```")

    def close(self) -> None:
        """Write what is left."""
        self.mean.close()
