"""What ranks say to one another: sums, gathered rows, texts, and what a rank alone answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from ppro.compute.ranks import ALONE
from ppro.distributed import RankGroup
from tests.distributed.spawned import on_ranks

COUNTS = (3, 0, 5)
"""Rows of each rank."""


def rows_of(rank: int, dtype: torch.dtype) -> Tensor:
    """Two runs with rows of two numbers each, none of which another rank has."""
    values = torch.arange(4 * COUNTS[rank]).view(2, COUNTS[rank], 2) + 100 * rank
    return values.to(dtype)


def said(ranks: RankGroup) -> dict[str, Any]:
    """What this rank hears of all."""
    before = ranks.traffic.reductions
    found: dict[str, Any] = {
        "float": ranks.gather(rows_of(ranks.rank, torch.float32)),
        "int": ranks.gather(rows_of(ranks.rank, torch.int64)),
        "flat": ranks.gather(rows_of(ranks.rank, torch.float64)[..., 0]),
        "calls": ranks.traffic.reductions - before,
        "sum": ranks.sum(torch.tensor([1.0, 10.0]) * ranks.rank),
        "max": ranks.max(torch.tensor([ranks.rank, -ranks.rank])),
        "all": [ranks.all(True), ranks.all(ranks.rank != 1)],
        "texts": [ranks.text_from_first(t if ranks.rank == 0 else "") for t in ("α β", "", "end")],
        "first": ranks.from_first(torch.tensor([[7.5]]) * (ranks.rank == 0)),
    }
    ranks.wait()
    return found


def test_what_ranks_gather_is_what_all_of_them_hold() -> None:
    answers = on_ranks(3, said)
    for answer in answers:
        for name, dtype in (("float", torch.float32), ("int", torch.int64)):
            whole = torch.cat([rows_of(rank, dtype) for rank in range(3)], dim=1)
            assert answer[name].dtype == whole.numpy().dtype
            assert np.array_equal(answer[name], whole.numpy())
        flat = torch.cat([rows_of(rank, torch.float64)[..., 0] for rank in range(3)], dim=1)
        assert np.array_equal(answer["flat"], flat.numpy())
        # The numbers of rows, then the rows themselves.
        assert answer["calls"] == 6
        assert answer["sum"].tolist() == [3, 30]
        assert answer["max"].tolist() == [2, 0]
        assert answer["all"] == [True, False]
        assert answer["texts"] == ["α β", " ", "end"]
        assert answer["first"].tolist() == [[7.5]]


def alone(ranks: RankGroup) -> dict[str, Any]:
    """One rank: nobody to ask, and nothing is sent."""
    values = rows_of(0, torch.float32)
    sent, out = torch.ones(0, 2), torch.zeros(0, 2)
    ranks.exchange(sent, [0], out, [0])()
    return {
        "same": ranks.gather(values) is values,
        "traffic": [ranks.traffic.reductions, ranks.traffic.exchanges, ranks.traffic.exchanged],
        "sum": ranks.sum(torch.tensor([4.0])),
        "size": ranks.size,
    }


def test_a_rank_alone_answers_itself() -> None:
    (answer,) = on_ranks(1, alone)
    assert answer["same"]
    assert answer["traffic"] == [0, 1, 0]
    assert answer["sum"].tolist() == [4]
    assert answer["size"] == 1
    values = torch.ones(2, 3)
    assert ALONE.gather(values) is ALONE.sum(values) is ALONE.max(values) is values


def wrong_shapes(ranks: RankGroup) -> str:
    """An error of one's own making keeps its name: no rank has died."""
    with pytest.raises(RuntimeError) as error:
        ranks.from_first(torch.ones(2).to_sparse())
    return type(error.value).__name__


def test_a_mistake_is_not_taken_for_a_dead_rank() -> None:
    assert "RankError" not in on_ranks(2, wrong_shapes)
