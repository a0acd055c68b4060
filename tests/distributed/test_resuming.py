"""A training by ranks is stopped; other numbers of ranks, and one process, go on with it."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from ppro.distributed import RankGroup, fit_shared
from ppro.errors import RunError
from ppro.training.fit import fit
from tests.distributed.spawned import on_ranks
from tests.distributed.test_equal import check_equal, essence, settings, world

STOP = 7


def stopped(ranks: RankGroup, folder: Path) -> tuple[int, bool] | None:
    """Train until a rank gets a signal after some epochs."""

    def on_epoch(done: int, metrics: Tensor, going: int) -> None:
        if done == STOP:
            # Twice, as a terminal and torchrun do.
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGINT)

    graph, splits = world()
    options: dict[str, Any] = {"threads": 1, "checkpoint": folder, "on_epoch": on_epoch}
    result = fit_shared(graph, splits, settings(), ranks, **options)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if result is None:
        return None
    return int(result.history.epochs.max()), result.history.interrupted


def resumed(ranks: RankGroup, folder: Path) -> dict[str, Any] | None:
    graph, splits = world()
    result = fit_shared(graph, splits, settings(), ranks, checkpoint=folder, resume=True)
    return None if result is None else essence(result)


def refused(ranks: RankGroup, folder: Path) -> str:
    graph, splits = world()
    if ranks.rank:
        return ""
    with pytest.raises(RunError) as error:
        fit_shared(graph, splits, settings(), ranks, checkpoint=folder, resume=True)
    return str(error.value)


def test_any_number_of_ranks_goes_on(tmp_path: Path) -> None:
    graph, splits = world()
    whole = essence(fit(graph, splits, settings(), threads=1))
    assert on_ranks(2, stopped, tmp_path / "saved") == [(STOP, True), None]
    for name in ("three", "one"):
        shutil.copytree(tmp_path / "saved", tmp_path / name)
    check_equal(on_ranks(3, resumed, tmp_path / "three")[0], whole)
    alone = fit(graph, splits, settings(), checkpoint=tmp_path / "one", resume=True)
    check_equal(essence(alone), whole)


def test_a_checkpoint_of_several_workers_is_refused(tmp_path: Path) -> None:
    graph, splits = world()
    fit(graph, splits, settings(), threads=2, checkpoint=tmp_path)
    assert np.all(["resume without torchrun" in t for t in on_ranks(1, refused, tmp_path)])
