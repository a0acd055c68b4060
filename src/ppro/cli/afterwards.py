"""What ``ppro train`` may do once a run is saved: compare it, and train once more on all labels.

``--compare`` trains the bare backbone at several depths beside it, ``--refit`` the same settings
on validation and test labels too. After Ctrl-C the run stays whole, without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppro.cli import console
from ppro.cli.outcome import COMPARISON
from ppro.errors import SettingsError

if TYPE_CHECKING:
    from ppro.data.files import Schema
    from ppro.data.splits import Splits
    from ppro.graph.core import Graph
    from ppro.runs.config import RunConfig
    from ppro.settings.settings import Settings
    from ppro.training.fit import Fit

REFIT = "refit"
"""What the facts of a run call its refit."""
STOPPED = (
    "interrupted: saved the best state of each run so far; "
    "the same command with --resume goes on from here"
)
NOT_COMPARED = "interrupted: the run is saved whole, without the comparison"
NOT_REFITTED = "interrupted: the run is saved whole, without the refit on all labels"


@dataclass(frozen=True)
class Afterwards:
    """What was asked for: ``--compare`` and ``--refit``."""

    compare: bool
    refit: bool

    def check(self, settings: Settings, splits: Splits | None = None) -> None:
        """Refuse what cannot be done, before anything is trained.

        Args:
            splits: those to train on, once they are known.
        """
        from ppro.runs import torchrun

        for asked, option in ((self.compare, "--compare"), (self.refit, "--refit")):
            if asked and torchrun.is_one_of_several():
                raise SettingsError(f"{option}: trains on one process; leave torchrun out")
        if self.compare:
            from ppro.training.backbone_alone import check_comparable

            check_comparable(settings, splits)

    def done(
        self,
        facts: dict[str, Any],
        config: RunConfig,
        graph: Graph,
        splits: Splits,
        result: Fit,
        *,
        schema: Schema | None,
        **speed: Any,
    ) -> dict[str, Any]:
        """Return the facts of a run that is saved, with what else was asked for, as far as it came.

        Args:
            speed: device and threads.
        """
        from ppro.runs.writing import add_facts

        out = Path(facts["out"])
        try:
            if self.compare:
                compared = _compared(graph, splits, result, **speed)
                facts = add_facts(out, facts, {COMPARISON: compared})
            if self.refit:
                again = _refitted(facts, config, graph, result, schema=schema, **speed)
                facts = add_facts(out, facts, {REFIT: again})
        except KeyboardInterrupt:
            pass  # the caller asks what is missing
        return facts

    def missing(self, facts: dict[str, Any]) -> str:
        """Return what Ctrl-C has left undone, or nothing."""
        if facts["interrupted"]:
            return STOPPED
        if self.compare and COMPARISON not in facts:
            return NOT_COMPARED
        return NOT_REFITTED if self.refit and REFIT not in facts else ""


def _compared(graph: Graph, splits: Splits, result: Fit, **options: Any) -> dict[str, Any]:
    """Return how the training differs from the bare backbone at the best of several depths."""
    from ppro.training.backbone_alone import against_backbone, depths_of, train_bare

    settings = result.settings
    depths, tried = depths_of(settings[0]), []
    shown = ", ".join(map(str, depths))
    console.err.print(console.paragraph(f"comparing with the bare backbone at depths {shown}"))
    for depth in depths:
        with console.training_progress(settings[0].training.epochs) as progress:
            options["on_epoch"] = progress
            tried.append(train_bare(graph, splits, settings, depth, **options))
    return against_backbone(result, tried)


def _refitted(
    facts: dict[str, Any], config: RunConfig, graph: Graph, result: Fit, **options: Any
) -> dict[str, Any]:
    """Return where the refit lies, and how long it trained."""
    from ppro.runs.refit import refit, refit_settings

    epochs = refit_settings(config.settings, result.history).training.epochs
    told = f"training once more on all labels, for {console.count(epochs, 'epoch')}"
    console.err.print(console.paragraph(told))
    with console.training_progress(epochs) as progress:
        folder = Path(facts["out"])
        again = refit(folder, config, graph, result, facts, on_epoch=progress, **options)
    return {"out": again["out"], "epochs": again["epochs"]}
