"""The options that say what is trained: the model, its parts, the split and the metric."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from ppro.cli.options import Options, shown, taking
from ppro.data.names import GEOM_GCN, PUBLIC, RANDOM
from ppro.parts import BACKBONES, METRICS, RIVALS, STRATEGIES


@dataclass(frozen=True)
class GivenMethod:
    """What the options of a command say of its method.

    Args:
        split: its name, or None.
        options: all others, None where they are not given.
    """

    split: str | None
    options: Mapping[str, Any]


def _option(text: str, default: str, kind: Any = str) -> tuple[Any, Any]:
    return Annotated[kind | None, shown(text, default)], None


_OPTIONS: Options = {
    "model": _option(f"ppro, or a rival: {', '.join(RIVALS)}.", "ppro"),
    "strategy": _option(
        f"How nodes choose their step: {', '.join(STRATEGIES)}; none is the bare backbone.", "l2b"
    ),
    "backbone": _option(f"{', '.join(BACKBONES)}.", "appnp"),
    "split": _option(
        f"{PUBLIC}, {RANDOM}, {GEOM_GCN}, or N-per-class: N training nodes of each class.",
        "the recipe's",
    ),
    "metric": _option(
        "What selects epochs, settings and the best run on validation nodes: "
        f"{', '.join(METRICS)}.",
        "the graph's, mostly accuracy",
    ),
    "class_weight": _option(
        "What classes count in the losses: balanced, or CLASS=WEIGHT, repeated.",
        "all the same",
        list[str],
    ),
}


def _given(*, split: str | None, **options: Any) -> GivenMethod:
    return GivenMethod(split, options)


takes_method = taking("method", _OPTIONS, _given, first=True)
"""Gives a command the options of its method; it gets them as its argument ``method``."""
