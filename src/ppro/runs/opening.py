"""Open a run folder: the one way for predict, explain, report and ``ppro.load``."""

from __future__ import annotations

from pathlib import Path

from ppro.errors import RunError
from ppro.runs import format_1
from ppro.runs.config import FIRST_FORMAT, read_config
from ppro.runs.saved_run import SavedRun


def open_run(folder: Path | str) -> SavedRun:
    """Open a run folder that ``ppro train`` or ``PProClassifier.save`` wrote, also those of 0.1.

    Raises:
        RunError: it is none, is damaged, or needs a part of the user's own that is not defined.
    """
    folder = Path(folder)
    if (folder / format_1.ESTIMATOR).exists():
        return format_1.open_estimator(folder)
    config = read_config(folder)
    if config.format == FIRST_FORMAT:
        return format_1.open_training(folder, config)
    if config.trained is None:
        raise RunError(f"{folder}: a training that is not finished; go on with ppro train --resume")
    return SavedRun(folder, config)


open = open_run
