from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.parts.choices import Selection
from ppro.training.stopping import MEASURED, SMOOTHING, Record

RUNS, EPOCHS = 3, 12
# Few values, so that accuracies and losses often tie.
tables = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=RUNS, max_size=RUNS),
    min_size=EPOCHS,
    max_size=EPOCHS,
)


@dataclass
class Expected:
    best: int = 0
    epochs: int = 0


def by_hand(scores: list[tuple[int, int]], patience: int) -> Expected:
    """The best epoch of one run by (accuracy, -loss), and how many epochs it trains."""
    found = Expected()
    for epoch, (accuracy, loss) in enumerate(scores):
        top_accuracy, top_loss = scores[found.best]
        if accuracy > top_accuracy or (accuracy == top_accuracy and loss < top_loss):
            found.best = epoch
        found.epochs = epoch + 1
        if epoch - found.best >= patience:
            break
    return found


def measured(scores: list[tuple[int, int]], held: list[int]) -> Tensor:
    out = torch.zeros(len(MEASURED), len(held))
    out[MEASURED.index("val_score")] = torch.tensor([scores[r][0] / 3 for r in held])
    out[MEASURED.index("val_loss")] = torch.tensor([float(scores[r][1]) for r in held])
    return out


def play(table: list[list[tuple[int, int]]], patience: int, share: float) -> Record:
    """Feed a record; the state of a run is the number of the epoch and of the run."""
    record = Record([torch.full((RUNS, 2), -1.0), torch.full((RUNS, 1), -1.0)], EPOCHS, patience)
    held = list(range(RUNS))
    for epoch in range(EPOCHS):
        now = torch.tensor([[float(epoch), float(r)] for r in held])
        record.update(measured(table[epoch], held), [now, now[:, :1]])
        if not bool(record.going.any()):
            break
        if (kept := record.finished(share)) is not None:
            held = [held[int(at)] for at in kept]
    return record


@settings(deadline=None, max_examples=60)
@given(tables, st.integers(1, 6), st.sampled_from([0.1, 0.5, 1.0]))
def test_each_run_keeps_its_best_epoch_and_stops_after_its_patience(
    table: list[list[tuple[int, int]]], patience: int, share: float
) -> None:
    record = play(table, patience, share)
    history = record.history(interrupted=False)
    for run in range(RUNS):
        expected = by_hand([row[run] for row in table], patience)
        assert int(history.best_epoch[run]) == expected.best
        assert int(history.epochs[run]) == expected.epochs
        assert record.states[0][run].tolist() == [expected.best, run]
        assert record.states[1][run].tolist() == [expected.best]
        finite = torch.isfinite(history.metrics[:, :, run]).all(1).tolist()
        assert finite == [epoch < expected.epochs for epoch in range(len(finite))]
    assert history.metrics.shape[0] == int(history.epochs.max())


def test_runs_are_set_aside_once_a_share_of_them_has_finished() -> None:
    record = Record([torch.zeros(4, 1)], 5, patience=1)
    accuracy = MEASURED.index("val_score")
    first, second = torch.zeros(2, len(MEASURED), 4)
    second[accuracy] = torch.tensor([0.0, 1.0, 1.0, 1.0])
    record.update(first, [torch.zeros(4, 1)])
    assert record.finished(0.1) is None
    record.update(second, [torch.zeros(4, 1)])
    assert record.finished(0.5) is None
    kept = record.finished(0.1)
    assert kept is not None
    assert kept.tolist() == [1, 2, 3]


def scores(selection: Selection, accuracies: list[float], losses: list[float]) -> int:
    """The epoch that a record of one run keeps."""
    record = Record([torch.zeros(1, 1)], len(accuracies), 100, selection)
    for epoch, (accuracy, loss) in enumerate(zip(accuracies, losses, strict=True)):
        measured = torch.tensor([[0.0], [0.0], [loss], [0.0], [0.0], [accuracy]])
        record.update(measured, [torch.full((1, 1), float(epoch))])
    assert float(record.states[0]) == float(record.best_epoch)
    return int(record.best_epoch)


def test_what_makes_a_state_better() -> None:
    peak = [0.5, 0.9, 0.5, 0.5, *[0.7] * 6]
    losses = [1.0, 0.9, 0.8, 0.2, *[0.7] * 6]
    assert scores("score", peak, losses) == 1
    assert scores("loss", peak, losses) == 3
    averages, level = [], 0.0
    for epoch, accuracy in enumerate(peak, start=1):
        level = SMOOTHING * level + (1 - SMOOTHING) * accuracy
        averages.append(level / (1 - SMOOTHING**epoch))
    assert scores("smoothed", peak, losses) == averages.index(max(averages))


def fed(rows: list[tuple[float, float]], **options: Any) -> Record:
    """Feed a record of one run with scores and losses; its state is the number of the epoch."""
    record = Record([torch.full((1, 1), -1.0)], len(rows), len(rows), **options)
    for epoch, (score, loss) in enumerate(rows):
        seen = torch.zeros(len(MEASURED), 1)
        seen[MEASURED.index("val_score")], seen[MEASURED.index("val_loss")] = score, loss
        record.update(seen, [torch.full((1, 1), float(epoch))])
    return record


def test_less_is_better_where_the_metric_says_so() -> None:
    rows = [(0.9, 1.0), (0.3, 1.0), (0.5, 1.0), (0.3, 0.5), (0.4, 0.1)]
    assert fed(rows, lower_is_better=True).states[0].item() == 3
    assert fed(rows).states[0].item() == 0
    steady = [(0.9, 1.0), (0.5, 1.0), (0.5, 1.0), (0.9, 1.0)]
    assert fed(steady, lower_is_better=True, selection="smoothed").states[0].item() == 2


def test_the_loss_decides_where_the_metric_is_not_defined() -> None:
    rows = [(math.nan, 1.0), (math.nan, 0.4), (math.nan, 0.7), (math.nan, math.nan)]
    assert fed(rows).states[0].item() == 1
    assert fed([*rows, (0.1, 2.0)]).states[0].item() == 4


def test_the_last_state_that_has_a_loss_can_be_kept() -> None:
    rows = [(0.9, 1.0), (0.8, 2.0), (0.1, 9.0), (0.9, math.nan)]
    assert fed(rows, selection="last").states[0].item() == 2
