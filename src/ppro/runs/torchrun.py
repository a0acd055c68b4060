"""A training that torchrun has started in several processes, and which of them reports errors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from ppro.errors import RankError, SettingsError

if TYPE_CHECKING:
    import torch

    from ppro.data.splits import Splits
    from ppro.distributed import RankGroup
    from ppro.graph.core import Graph
    from ppro.settings.settings import Settings
    from ppro.training.fit import Fit

TOLD = "ppro/told/{}"
PATIENCE = timedelta(seconds=5)


def is_one_of_several() -> bool:
    """Tell whether torchrun has started this process together with others.

    Raises:
        SettingsError: the environment holds something else than numbers.
    """
    said = [os.environ.get(name) for name in ("RANK", "WORLD_SIZE")]
    for name, text in zip(("RANK", "WORLD_SIZE"), said, strict=True):
        if text is not None and not re.fullmatch("[0-9]{1,9}", text):
            raise SettingsError(f"{name}={text!r}: not a number; unset it, or start with torchrun")
    return said[0] is not None and int(said[1] or 1) > 1


def is_follower() -> bool:
    """Tell whether another process shows and writes what this one helps to train."""
    return is_one_of_several() and int(os.environ["RANK"]) != 0


def device_here(device: torch.device) -> torch.device:
    """Return the device of this process: among several, each has a GPU of its own."""
    if not is_one_of_several():
        return device
    from ppro.distributed.group import device_of_rank

    return device_of_rank(device)


@contextmanager
def ranks_of_job() -> Iterator[RankGroup | None]:
    """Join the processes that train together; None where this one is alone."""
    if not is_one_of_several():
        yield None
        return
    with _joined() as ranks:
        yield ranks


@contextmanager
def _joined() -> Iterator[RankGroup]:
    from ppro.distributed import joined

    with joined() as ranks:
        try:
            yield ranks
        except RankError:
            raise
        except Exception:
            # Before the connections close: the others' errors follow from this one.
            reports_errors()
            raise


def follow(
    settings: Sequence[Settings], load: Callable[[], tuple[Graph, Splits]], **options: Any
) -> None:
    """Help to train; rank 0 shows and writes the result.

    Args:
        load: returns the graph and its splits, of which only a part is kept.
        options: those of :meth:`ppro.distributed.SharedTraining.prepare`.
    """
    from ppro.distributed import SharedTraining

    with _joined() as ranks:
        graph, splits = load()
        training = SharedTraining.prepare(graph, splits, settings, ranks, **options)
        del graph, splits
        training.run()


def lead(
    ranks: RankGroup, graph: Graph, splits: Splits, settings: Sequence[Settings], **options: Any
) -> Fit:
    """Train together with the followers, as :func:`ppro.training.fit.fit` does alone."""
    from ppro.distributed import fit_shared

    result = fit_shared(graph, splits, settings, ranks, **options)
    assert result is not None
    return result


@cache
def reports_errors() -> bool:
    """Tell whether this process is to report an error: of several that fail, the first to ask."""
    try:
        if not is_one_of_several():
            return True
    except SettingsError:
        return True
    from torch._C._distributed_c10d import TCPStore

    try:
        address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        store = TCPStore(address, port, timeout=PATIENCE, wait_for_workers=False)
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        return int(store.add(TOLD.format(attempt), 1)) == 1
    except (RuntimeError, KeyError, ValueError):
        # Nobody to ask: better told twice than never.
        return True


def leave(status: int) -> NoReturn:
    """End this process at once: the usual end may wait for connections to ranks that have died."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
