"""Early stopping and the best state of each run, kept where the training runs.

Everything is updated in place and without asking the host, so that an epoch can be recorded once
as a CUDA graph and replayed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.parts.choices import Selection

MEASURED = (
    *("train_loss", "controller_loss", "val_loss", "val_accuracy", "mean_step", "val_score"),
)
"""What is measured in every epoch; the score is that of the chosen metric."""
_TRAIN_LOSS, _VAL_LOSS = MEASURED.index("train_loss"), MEASURED.index("val_loss")
_VAL_SCORE = MEASURED.index("val_score")
_TENSORS = ("held", "now", "score", "loss", "level", "best_epoch", "stopped", "going", "log")


SMOOTHING = 0.9
"""Share of the past in a smoothed validation accuracy."""


@dataclass(frozen=True, eq=False)
class History:
    """What training recorded.

    Args:
        metrics: per epoch, metric (see MEASURED) and run; NaN after a run has stopped, and for
            what an epoch did not measure. Shape ``[epochs, 6, R]``.
        best_epoch: epoch of the state that was kept, counted from 0. Shape ``[R]``.
        epochs: epochs trained. Shape ``[R]``.
        interrupted: whether training was cut short by Ctrl-C.
    """

    metrics: Tensor
    best_epoch: Tensor
    epochs: Tensor
    interrupted: bool = False


class Record:
    """The best state of each run so far, by its validation nodes.

    Args:
        states: the parameters of all runs, one tensor ``[R, P]`` per optimiser, to be copied.
        epochs: most epochs of a run.
        patience: epochs without a better state after which a run stops.
        selection: what makes a state better: the score on validation nodes (ties: the lower
            loss), its exponential moving average, which noise moves less, the loss, or that it
            comes later.
        quiet: epochs at the beginning that validate nothing; patience begins after them.
        lower_is_better: whether less of the score is better. Where it is not defined, the loss
            decides.
    """

    def __init__(
        self,
        states: Sequence[Tensor],
        epochs: int,
        patience: int,
        selection: Selection = "score",
        quiet: int = 0,
        *,
        lower_is_better: bool = False,
    ) -> None:
        runs, device = states[0].shape[0], states[0].device
        self.patience, self.selection, self.quiet = patience, selection, quiet
        self.lower_is_better = lower_is_better
        self.states = [state.clone() for state in states]
        self.held = torch.arange(runs, device=device)
        self.now = torch.zeros((), dtype=torch.int64, device=device)
        self.score = torch.full((runs,), -torch.inf, device=device)
        self.level = torch.zeros(runs, device=device)
        self.loss = torch.full((runs,), torch.inf, device=device)
        self.best_epoch = torch.zeros(runs, dtype=torch.int64, device=device)
        self.stopped = torch.zeros(runs, dtype=torch.int64, device=device)
        self.going = torch.ones(runs, dtype=torch.bool, device=device)
        self.log = torch.full((epochs, len(MEASURED), runs), torch.nan, device=device)

    def update(self, measured: Tensor, states: Sequence[Tensor]) -> None:
        """Take note of an epoch of the runs in the program. ``measured``: ``[6, held runs]``."""
        metrics = measured.new_full(self.log.shape[1:], torch.nan)
        metrics.index_copy_(1, self.held, measured)
        metrics = torch.where(self.going, metrics, torch.nan)
        self.log.index_copy_(0, self.now.view(1), metrics.unsqueeze(0))
        loss = metrics[_VAL_LOSS]
        score = self._scored(metrics[_VAL_SCORE], loss)
        better = (score > self.score) | ((score == self.score) & (loss < self.loss))
        better &= loss.isfinite() & metrics[_TRAIN_LOSS].isfinite()
        better = self._keep(better, states)
        self.score.copy_(torch.where(better, score, self.score))
        self.loss.copy_(torch.where(better, loss, self.loss))
        self.best_epoch.copy_(torch.where(better, self.now, self.best_epoch))
        self.stopped.add_(self.going)
        self.going.logical_and_(self.now - self.best_epoch.clamp(min=self.quiet) < self.patience)
        self.now.add_(1)

    def _scored(self, score: Tensor, loss: Tensor) -> Tensor:
        """Return what the states of this epoch are judged by. Shape ``[R]``."""
        if self.selection == "loss":
            return -loss
        if self.selection == "last":
            return self.now.to(loss.dtype).expand_as(loss)
        score = -score if self.lower_is_better else score
        if self.selection == "score":
            return torch.where(score.isnan(), -torch.inf, score)
        seen = score.isfinite()
        self.level.copy_(torch.where(seen, self.level.lerp(score, 1 - SMOOTHING), self.level))
        # Divided by the weight that the moving average has gathered since it began at zero.
        validations = (self.now + 1 - self.quiet).clamp(min=1)
        smooth = self.level / (1 - SMOOTHING ** validations.to(torch.float64))
        return torch.where(seen, smooth.to(loss.dtype), -torch.inf)

    def _keep(self, better: Tensor, states: Sequence[Tensor]) -> Tensor:
        """Keep the states that are better and finite; returns of which runs. Shape ``[R]``."""
        if not better.is_cuda and not bool(better.any()):
            return better
        finite = torch.stack([state.isfinite().all(1) for state in states]).all(0)
        better = better.index_copy(0, self.held, better[self.held] & finite)
        chosen = better[self.held].unsqueeze(1)
        for best, state in zip(self.states, states, strict=True):
            best.index_copy_(0, self.held, torch.where(chosen, state, best[self.held]))
        return better

    def finished(self, share: float) -> Tensor | None:
        """Positions of the runs to go on with, once that share of those held has finished."""
        going = self.going[self.held]
        left = int(going.sum())
        if left in (0, going.shape[0]) or left > (1 - share) * going.shape[0]:
            return None
        self.held = self.held[going]
        return going.nonzero().squeeze(1)

    def state(self) -> dict[str, Tensor]:
        """Return every tensor of the record by its name."""
        best = {f"states.{i}": state for i, state in enumerate(self.states)}
        return best | {name: getattr(self, name) for name in _TENSORS}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go on from where :meth:`state` was taken."""
        self.states = [state[f"states.{i}"] for i in range(len(self.states))]
        for name in _TENSORS:
            setattr(self, name, state[name])

    def history(self, interrupted: bool) -> History:
        """Return the record as tensors on the CPU."""
        metrics = self.log[: int(self.now)].cpu()
        return History(metrics, self.best_epoch.cpu(), self.stopped.cpu(), interrupted)
