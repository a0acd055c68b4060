"""``ppro train --refit``: once more on all labels, for predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppro.cli import console
from ppro.errors import SettingsError

if TYPE_CHECKING:
    from ppro.graph.core import Graph
    from ppro.runs.config import RunConfig
    from ppro.training.fit import Fit

REFIT = "refit"
"""What the facts of a run call it."""
NOT_REFITTED = "interrupted: the run is saved whole, without the refit on all labels"


def check() -> None:
    """Refuse a refit that cannot be made, before anything is trained."""
    from ppro.runs import torchrun

    if torchrun.is_one_of_several():
        raise SettingsError("--refit: trains on one process; leave torchrun out")


def with_refit(
    facts: dict[str, Any], config: RunConfig, graph: Graph, result: Fit, **options: Any
) -> dict[str, Any]:
    """Return the facts of a run that is saved, with where its refit lies, which is written too.

    After Ctrl-C they are as they were: the run is whole without it.
    """
    from ppro.runs.refit import refit, refit_settings
    from ppro.runs.writing import add_facts

    folder, epochs = Path(facts["out"]), refit_settings(config.settings, result.history).training
    told = f"training once more on all labels, for {console.count(epochs.epochs, 'epoch')}"
    console.err.print(console.paragraph(told))
    try:
        with console.training_progress(epochs.epochs) as progress:
            again = refit(folder, config, graph, result, facts, on_epoch=progress, **options)
    except KeyboardInterrupt:
        return facts
    return add_facts(folder, facts, {REFIT: {"out": again["out"], "epochs": again["epochs"]}})
