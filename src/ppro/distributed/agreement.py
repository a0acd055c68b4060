"""Check before training that all ranks are about to train the same, and name what differs.

Ranks that were started with different commands, data or versions would train on, each something
else, or wait for each other without end.
"""

import platform
from collections.abc import Sequence

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.distributed.group import RankGroup
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.settings.settings import Settings
from ppro.training.fingerprint import (
    Fingerprint,
    differing,
    digest,
    fingerprint,
    without_graph,
)

ENDS = 1_000_000
"""Edges at the beginning and at the end of a large graph that are compared; the rest is trusted."""


def of_rank(
    graph: Graph,
    splits: Splits,
    settings: Sequence[Settings],
    weights: Tensor | None,
    **more: str,
) -> Fingerprint:
    """Return what a rank is about to train, in short texts.

    Args:
        weights: of the classes, or None.
        more: what else must be the same, by name.
    """
    versions = {"python version": platform.python_version(), "torch version": torch.__version__}
    if not isinstance(graph, LargeGraph):
        return {**fingerprint(graph, splits, settings, None, weights), **versions, **more}
    ends = (graph.columns[:ENDS], graph.columns[-ENDS:], graph.labels, graph.starts[-1:])
    content = digest(ends, f"{graph.num_features} {graph.class_names}")
    shared = without_graph(splits, settings, None, weights)
    return {"graph": content, **shared, **versions, **more}


def check_agreement(ranks: RankGroup, of: Fingerprint) -> None:
    """Refuse to begin where ranks are about to train different things.

    Raises:
        SettingsError: on every rank; it names the first rank that differs, and in what.
    """
    found = [_parsed(text) for text in ranks.texts(_text(of))]
    for rank, other in enumerate(found):
        if other != found[0]:
            raise SettingsError(
                f"rank {rank} was started with another {differing(found[0], other)} than rank 0; "
                "start all ranks with the same command, data and versions"
            )


def _text(of: Fingerprint) -> str:
    return "\0".join(f"{key}\1{value}" for key, value in sorted(of.items()))


def _parsed(text: str) -> Fingerprint:
    pairs = (part.partition("\1") for part in text.split("\0"))
    return {key: value for key, _, value in pairs}
