"""Checkpoints of a training by several ranks: rank 0 writes and reads them for all.

What training changes is the same on every rank, so a checkpoint says nothing of ranks: any number
of them goes on from it, and so does one process.
"""

import json

import torch
from torch import Tensor

from ppro.distributed.group import RankGroup
from ppro.errors import RunError
from ppro.training.checkpoint import Checkpoint

State = dict[str, Tensor]


def check_one_part(saved: Checkpoint) -> None:
    """Refuse what several workers of one process have saved side by side.

    Raises:
        RunError: the checkpoint has several parts.
    """
    if saved.parts > 1:
        raise RunError(
            f"{saved.plan.folder}: saved by {saved.parts} workers of one process, each with some "
            "of the runs; resume without torchrun, or begin anew"
        )


def shared_state(saved: Checkpoint | None, ranks: RankGroup, device: torch.device) -> State | None:
    """Return where the training stood, on every rank; None where it has not begun.

    Args:
        saved: the checkpoint, on rank 0; None on the others, and without one.
    """
    found = None if saved is None else saved.state(0, torch.device("cpu"))
    described = [
        [name, str(t.dtype).removeprefix("torch."), list(t.shape)]
        for name, t in sorted((found or {}).items())
    ]
    state: State = {}
    for name, kind, shape in json.loads(ranks.text_from_first(json.dumps(described))):
        blank = torch.empty(shape, dtype=getattr(torch, kind))
        state[name] = ranks.from_first(blank if found is None else found[name]).to(device)
    return state or None
