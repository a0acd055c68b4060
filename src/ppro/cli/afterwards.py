"""What ``ppro train`` may do once a run is saved: compare it, and train once more on all labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ppro.cli import comparing, refitting

if TYPE_CHECKING:
    from ppro.data.files import Schema
    from ppro.data.splits import Splits
    from ppro.graph.core import Graph
    from ppro.runs.config import RunConfig
    from ppro.settings.settings import Settings
    from ppro.training.fit import Fit

STOPPED = (
    "interrupted: saved the best state of each run so far; "
    "the same command with --resume goes on from here"
)


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
        if self.compare:
            comparing.check(settings, splits)
        if self.refit:
            refitting.check()

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
        """Return the facts of a run that is saved, with what else was asked for."""
        if self.compare:
            facts = comparing.with_comparison(facts, graph, splits, result, **speed)
        if self.refit and not (self.compare and comparing.is_missing(facts)):
            facts = refitting.with_refit(facts, config, graph, result, schema=schema, **speed)
        return facts

    def missing(self, facts: dict[str, Any]) -> str:
        """Return what Ctrl-C has left undone, or nothing."""
        if facts["interrupted"]:
            return STOPPED
        if self.compare and comparing.is_missing(facts):
            return comparing.NOT_COMPARED
        return refitting.NOT_REFITTED if self.refit and refitting.REFIT not in facts else ""
