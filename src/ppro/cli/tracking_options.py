"""The options of ``ppro train`` for watching it: TensorBoard, MLflow, a JSONL file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ppro.insight.tracking import Tracker
    from ppro.runs.config import RunConfig

TensorBoardFolder = Annotated[
    Path | None,
    typer.Option(
        "--tensorboard",
        help="Folder for TensorBoard's event files; see them with 'tensorboard --logdir'.",
        show_default="none",
    ),
]
MLflowUri = Annotated[
    str | None,
    typer.Option(
        "--mlflow",
        help="MLflow: address of a tracking server, such as http://localhost:5000.",
        show_default="none",
    ),
]
LiveMetrics = Annotated[
    Path | None,
    typer.Option(
        "--live",
        help="JSONL file that grows while training: the means of the runs, epoch by epoch.",
        show_default="none",
    ),
]


@contextmanager
def tracked(
    config: RunConfig, name: str, folder: Path | None, uri: str | None, live: Path | None
) -> Iterator[list[Tracker]]:
    """Open the trackers that the user asked for, and close them at the end of the block.

    Args:
        name: what a server calls the training.
        folder, uri, live: of TensorBoard, MLflow and the JSONL file; None for none.
    """
    from ppro.insight.tracking import JsonLines, MLflow, TensorBoard

    with ExitStack() as stack:
        trackers: list[Tracker] = []

        def use(tracker: Tracker) -> None:
            trackers.append(tracker)
            stack.callback(_close, tracker)

        if live is not None:
            use(JsonLines(live))
        if folder is not None:
            use(TensorBoard(folder))
        if uri is not None:
            facts = {"dataset": config.dataset, "split": config.split, "runs": config.runs}
            settings = {k: v for k, v in config.settings.flat().items() if v is not None}
            use(MLflow(uri, f"ppro-{config.dataset}", name, {**facts, **settings}))
        yield trackers


def _close(tracker: Tracker) -> None:
    """Let go of a tracker; the training is over, and what it lacks has been told."""
    with suppress(Exception):
        tracker.close()
