"""Ranks that were started with something else are refused before they train, and by name."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
import torch

from ppro.distributed import RankGroup, SharedTraining
from ppro.distributed.agreement import check_agreement
from ppro.distributed.group import number_said
from ppro.errors import SettingsError
from tests.distributed.spawned import on_ranks
from tests.distributed.test_equal import settings, world


def prepared(ranks: RankGroup, what: str) -> tuple[str, float]:
    """Prepare a training, of which the last rank has something else; returns what is told."""
    graph, splits = world()
    chosen, options = settings(), dict[str, Any](threads=1)
    if ranks.rank == ranks.size - 1:
        if what == "lr":
            chosen = [s.replace(lr=0.123) for s in chosen]
        elif what == "seed":
            chosen = [s.replace(seed=s.seed + 7) for s in chosen]
        elif what == "number of runs":
            chosen, splits = chosen[:1], splits.take(torch.tensor([0]))
        elif what == "splits":
            splits = replace(splits, train=splits.val, val=splits.train)
        elif what == "graph":
            graph = replace(graph, features=graph.features.to_dense() + 1)
        elif what == "partition":
            options["partition"] = "contiguous"
    start = time.monotonic()
    try:
        SharedTraining.prepare(graph, splits, chosen, ranks, **options)
    except SettingsError as error:
        return str(error), time.monotonic() - start
    return "", 0.0


DIFFERENT = ("lr", "seed", "number of runs", "splits", "graph", "partition")


def each(ranks: RankGroup) -> dict[str, tuple[str, float]]:
    return {what: prepared(ranks, what) for what in (*DIFFERENT, "nothing")}


def test_ranks_that_differ_are_named() -> None:
    for found in on_ranks(2, each):
        assert found.pop("nothing") == ("", 0.0)
        for what, (told, seconds) in found.items():
            assert told.startswith("rank 1 was started with another ")
            assert what in told
            assert seconds < 10


class Told(RankGroup):
    """Ranks whose texts are known."""

    def __init__(self, *texts: str) -> None:
        self.rank, self.size, self.known = 0, len(texts), texts

    def texts(self, text: str) -> list[str]:
        return list(self.known)


def test_another_version_is_named() -> None:
    with pytest.raises(SettingsError, match="rank 2 was started with another torch version"):
        check_agreement(Told(*(f"torch version\1{v}" for v in "112")), {"torch version": "1"})


@pytest.mark.parametrize("text", ["x", "", "-1", "1.5", "9" * 5000, "²"])
def test_an_environment_without_numbers(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", text)
    with pytest.raises(SettingsError, match=r"LOCAL_RANK=.*not a number"):
        number_said("LOCAL_RANK", 0)
