from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from ppro.data import Splits, load_graph, make_splits
from ppro.errors import RunError
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.checkpoint import FORMAT, Checkpointing, Keeper, write_durably
from ppro.training.fit import Fit, fit
from ppro.training.optim import RunAdam
from ppro.training.stopping import Record
from tests.killing import kill_and_resume, same

RUNS = 4


@pytest.fixture(autouse=True)
def restored_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 90, "classes": 3, "features": 8, "degree": 4})


@pytest.fixture(scope="module")
def splits(graph: Graph) -> Splits:
    return make_splits(graph, "csbm", "random-60-20-20", RUNS, 0)


def runs_of(**changes: Any) -> list[Settings]:
    base = Settings(hidden=4, controller_units=4, max_steps=3, epochs=40, patience=5)
    rates = (0.001, 0.01, 0.05, 0.2)
    return [base.replace(**{"seed": s, "lr": lr, **changes}) for s, lr in enumerate(rates)]


class StopError(Exception):
    """Ends a training as hard as a kill would, but inside the process."""


def killed_at(epoch: int) -> Any:
    def on_epoch(done: int, metrics: Tensor, going: int) -> None:
        if done == epoch:
            raise StopError

    return on_epoch


def always(folder: Path) -> Checkpointing:
    return Checkpointing(folder, every=0)


PROGRAMS: list[dict[str, Any]] = [
    {"strategy": "l2b", "edge_dropout": 0.2},
    {"strategy": "l2u", "decay": "all"},
    {"strategy": "none"},
    {"backbone": "gcnii", "step_decay": 0.01},
    {"model": "gcn"},
    {"priority_scale": "mean", "consistency": 0.5, "lr_controller": 0.05},
    {"selection": "smoothed", "consistency": 0.5, "node_dropout": 0.2},
]


@pytest.mark.parametrize("changes", PROGRAMS, ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_resumed_training_has_the_bits_of_one_never_stopped(
    graph: Graph, splits: Splits, tmp_path: Path, changes: dict[str, Any], threads: int
) -> None:
    runs = runs_of(**changes)
    whole = fit(graph, splits, runs, threads=threads)
    assert len(set(whole.history.epochs.tolist())) > 1
    for epoch in (3, 9, 14):
        with pytest.raises(StopError):
            fit(
                *(graph, splits, runs),
                threads=threads,
                checkpoint=always(tmp_path),
                resume=True,
                on_epoch=killed_at(epoch),
            )
    resumed = fit(graph, splits, runs, checkpoint=tmp_path, resume=True)
    assert same(resumed, whole)
    assert resumed.threads == threads
    assert not resumed.history.interrupted


def test_every_tensor_that_training_changes_is_saved() -> None:
    states = [torch.zeros(2, 3)]
    record = Record(states, 4, 5)
    tensors = {name for name, value in vars(record).items() if isinstance(value, Tensor)}
    assert record.state().keys() == tensors | {"states.0"}
    adam = RunAdam([torch.nn.Parameter(torch.zeros(2, 3))], torch.ones(2))
    tensors = {name for name, value in vars(adam).items() if isinstance(value, Tensor)}
    # Learning rates are settings, and come back from them.
    assert tensors == {"flat", "first", "second", "steps", "lr"}


def test_runs_dropped_from_the_program_stay_dropped(
    graph: Graph, splits: Splits, tmp_path: Path
) -> None:
    runs = runs_of()
    whole = fit(graph, splits, runs)
    after_first_stop = int(whole.history.epochs.min()) + 2
    assert after_first_stop < int(whole.history.epochs.max())
    with pytest.raises(StopError):
        fit(
            *(graph, splits, runs),
            checkpoint=always(tmp_path),
            on_epoch=killed_at(after_first_stop),
        )
    assert same(fit(graph, splits, runs, checkpoint=tmp_path, resume=True), whole)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_saves_and_the_training_goes_on(
    graph: Graph, splits: Splits, tmp_path: Path, threads: int
) -> None:
    def press(done: int, metrics: Tensor, going: int) -> None:
        if done == 6:
            os.kill(os.getpid(), signal.SIGINT)

    runs = runs_of()
    plan = Checkpointing(tmp_path, every=1e9)
    cut = fit(graph, splits, runs, threads=threads, checkpoint=plan, on_epoch=press)
    assert cut.history.interrupted
    whole = fit(graph, splits, runs, threads=threads)
    seen: list[int] = []
    resumed = fit(
        *(graph, splits, runs),
        checkpoint=tmp_path,
        resume=True,
        on_epoch=lambda done, metrics, going: seen.append(done),
    )
    # Workers do not wait for each other: one may have been behind.
    assert min(seen) > (6 if threads == 1 else 1)
    assert same(resumed, whole)


def test_a_finished_training_is_not_trained_again(
    graph: Graph, splits: Splits, tmp_path: Path
) -> None:
    whole = fit(graph, splits, runs_of(), checkpoint=tmp_path)
    again = fit(
        *(graph, splits, runs_of()), checkpoint=tmp_path, resume=True, on_epoch=killed_at(1)
    )
    assert same(again, whole)


def test_without_resume_it_begins_anew(graph: Graph, splits: Splits, tmp_path: Path) -> None:
    fit(graph, splits, runs_of(), checkpoint=tmp_path, threads=2)
    other = runs_of(dropout=0.1)
    one = fit(graph, splits, other, checkpoint=tmp_path, threads=1)
    assert [file.name for file in tmp_path.iterdir()] == ["part-0.safetensors"]
    assert same(one, fit(graph, splits, other, threads=1))


def test_a_worker_killed_before_its_first_checkpoint_begins_anew(
    graph: Graph, splits: Splits, tmp_path: Path
) -> None:
    whole = fit(graph, splits, runs_of(), checkpoint=tmp_path, threads=2)
    for part in (1, 0):
        (tmp_path / f"part-{part}.safetensors").unlink()
        assert same(
            fit(graph, splits, runs_of(), threads=2, checkpoint=tmp_path, resume=True), whole
        )


def with_other_label(graph: Graph) -> Graph:
    return replace(graph, labels=torch.cat([graph.labels[:-1], (graph.labels[-1:] + 1) % 3]))


def test_the_checkpoint_of_another_training_is_refused(
    graph: Graph, splits: Splits, tmp_path: Path
) -> None:
    fit(graph, splits, runs_of(epochs=2), checkpoint=tmp_path)
    flipped = Splits("flipped", splits.val, splits.train, splits.test)
    cases: list[tuple[str, Any]] = [
        ("differing in dropout, lr;", (graph, splits, runs_of(epochs=2, dropout=0.1, lr=0.5))),
        ("differing in graph;", (with_other_label(graph), splits, runs_of(epochs=2))),
        ("differing in splits;", (graph, flipped, runs_of(epochs=2))),
    ]
    for message, arguments in cases:
        with pytest.raises(RunError, match=message):
            fit(*arguments, checkpoint=tmp_path, resume=True)
    with pytest.raises(RunError, match="differing in class weights;"):
        fit(
            *(graph, splits, runs_of(epochs=2)),
            checkpoint=tmp_path,
            resume=True,
            class_weight="balanced",
        )
    with pytest.raises(RunError, match="begun with 1 threads, not 2"):
        fit(graph, splits, runs_of(epochs=2), checkpoint=tmp_path, resume=True, threads=2)


def test_a_checkpoint_of_another_format_is_refused(
    graph: Graph, splits: Splits, tmp_path: Path
) -> None:
    for header, found in (('{"format": 99}', "99"), ("{", "unknown"), ("[]", "unknown")):
        path = str(tmp_path / "part-0.safetensors")
        save_file({"x": torch.zeros(1)}, path, metadata={"ppro": header})
        with pytest.raises(
            RunError, match=f"format {found}, but this version reads format {FORMAT}"
        ):
            fit(graph, splits, runs_of(), checkpoint=tmp_path, resume=True)


@pytest.mark.parametrize("content", [b"", b"garbage", b"\xff" * 64])
def test_a_damaged_checkpoint_is_named(
    graph: Graph, splits: Splits, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "part-0.safetensors").write_bytes(content)
    with pytest.raises(RunError, match=r"part-0\.safetensors: cannot be read"):
        fit(graph, splits, runs_of(), checkpoint=tmp_path, resume=True)


def test_a_folder_that_cannot_be_written_to_is_told_before_training(
    graph: Graph, splits: Splits, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(RunError, match="no checkpoint can be written there"):
        fit(graph, splits, runs_of(), checkpoint=file / "below", on_epoch=killed_at(1))


def test_resume_needs_a_checkpoint(graph: Graph, splits: Splits) -> None:
    with pytest.raises(RunError, match="resume needs a checkpoint"):
        fit(graph, splits, runs_of(), resume=True)


def test_a_write_that_fails_leaves_the_file_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "file"
    write_durably(path, b"old")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    Keeper(path, {}, 0).save({"x": torch.zeros(1)})
    assert "No space left on device" in caplog.text
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_at_the_end_does_not_cost_the_result(
    graph: Graph, splits: Splits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(done: int, metrics: Tensor, going: int) -> None:
        monkeypatch.setattr(Keeper, "save", refuse)

    def refuse(keeper: Keeper, state: Any) -> None:
        raise RunError("full")

    result: Fit = fit(graph, splits, runs_of(), checkpoint=tmp_path, on_epoch=fill)
    assert same(result, fit(graph, splits, runs_of()))


def test_it_is_written_at_most_every_so_often(tmp_path: Path) -> None:
    keeper, asked = Keeper(tmp_path / "part", {}, 1e9), []

    def state() -> dict[str, Tensor]:
        asked.append(1)
        return {"x": torch.zeros(1)}

    for _ in range(3):
        keeper.offer(state)
    assert len(asked) == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_kill_9_at_random_moments(tmp_path: Path, threads: int) -> None:
    """PPRO_KILLS=25 does it fifty times and finishes a copy after every kill."""
    kills = os.environ.get("PPRO_KILLS")
    assert kill_and_resume(tmp_path, int(kills or 5), threads, each=kills is not None)
