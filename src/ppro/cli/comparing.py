"""``ppro train --compare``: the bare backbone at several depths beside a training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppro.cli import console
from ppro.cli.outcome import COMPARISON
from ppro.errors import SettingsError

if TYPE_CHECKING:
    from ppro.data.splits import Splits
    from ppro.graph.core import Graph
    from ppro.settings.settings import Settings
    from ppro.training.fit import Fit

NOT_COMPARED = "interrupted: the run is saved whole, without the comparison"


def check(settings: Settings, splits: Splits | None = None) -> None:
    """Refuse a comparison that cannot be made, before anything is trained.

    Args:
        splits: those to compare on, once they are known.
    """
    from ppro.runs import torchrun
    from ppro.training.backbone_alone import check_comparable

    if torchrun.is_one_of_several():
        raise SettingsError("--compare: trains on one process; leave torchrun out")
    check_comparable(settings, splits)


def is_missing(facts: dict[str, Any]) -> bool:
    """Tell whether the facts of a run lack the comparison."""
    return COMPARISON not in facts


def with_comparison(
    facts: dict[str, Any], graph: Graph, splits: Splits, result: Fit, **options: Any
) -> dict[str, Any]:
    """Return the facts of a run that is saved, with the comparison, which is written there too.

    After Ctrl-C they are as they were: the run is whole without it.

    Args:
        options: device and threads.
    """
    from ppro.runs.writing import add_facts
    from ppro.training.backbone_alone import against_backbone, depths_of, train_bare

    settings = result.settings
    depths, tried = depths_of(settings[0]), []
    shown = ", ".join(map(str, depths))
    console.err.print(console.paragraph(f"comparing with the bare backbone at depths {shown}"))
    try:
        for depth in depths:
            with console.training_progress(settings[0].training.epochs) as progress:
                options["on_epoch"] = progress
                tried.append(train_bare(graph, splits, settings, depth, **options))
    except KeyboardInterrupt:
        return facts
    return add_facts(Path(facts["out"]), facts, {COMPARISON: against_backbone(result, tried)})
