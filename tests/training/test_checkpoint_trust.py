"""Checkpoints that are damaged, forged or shared: refused, and never begun anew in silence."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from torch import Tensor

from ppro.data import Splits, load_graph, make_splits
from ppro.errors import RunError
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.checkpoint import Keeper, digest_of
from ppro.training.fit import fit
from tests.killing import same

RUNS = 2


@pytest.fixture(autouse=True)
def restored_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("csbm", options={"nodes": 60, "classes": 3, "features": 4, "degree": 4})


@pytest.fixture(scope="module")
def splits(graph: Graph) -> Splits:
    return make_splits(graph, "csbm", "random-60-20-20", RUNS, 0)


def runs_of() -> list[Settings]:
    base = Settings(hidden=2, controller_units=2, max_steps=2, epochs=8)
    return [base.replace(seed=seed) for seed in range(RUNS)]


class StopError(Exception):
    """Ends a training as hard as a kill would, but inside the process."""


def killed_at(epoch: int) -> Any:
    def on_epoch(done: int, metrics: Tensor, going: int) -> None:
        if done == epoch:
            raise StopError

    return on_epoch


@pytest.mark.parametrize("threads", [1, 2])
def test_a_flipped_byte_is_refused(
    graph: Graph, splits: Splits, tmp_path: Path, threads: int
) -> None:
    saved = tmp_path / "saved"
    with pytest.raises(StopError):
        fit(graph, splits, runs_of(), threads=threads, checkpoint=saved, on_epoch=killed_at(3))
    part = saved / f"part-{threads - 1}.safetensors"
    whole = part.read_bytes()
    head = 8 + int.from_bytes(whole[:8], "little")
    for place in (*range(8, head, 97), *range(head, len(whole), len(whole) // 20), len(whole) - 1):
        part.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(RunError):
            fit(graph, splits, runs_of(), threads=threads, checkpoint=saved, resume=True)
    part.write_bytes(whole)
    fit(graph, splits, runs_of(), threads=threads, checkpoint=saved, resume=True)


@pytest.mark.parametrize(
    "lie",
    [{"parts": 0}, {"parts": 3}, {"cores": "1"}, {"cores": 10**9}, {"of": []}, {"parts": True}],
)
def test_a_head_that_lies_does_not_begin_anew(
    graph: Graph, splits: Splits, tmp_path: Path, lie: dict[str, Any]
) -> None:
    with pytest.raises(StopError):
        fit(graph, splits, runs_of(), threads=1, checkpoint=tmp_path, on_epoch=killed_at(3))
    part = tmp_path / "part-0.safetensors"
    with safe_open(str(part), framework="pt") as file:
        header = json.loads(file.metadata()["ppro"]) | lie
        state = {name: file.get_tensor(name) for name in list(file.keys())}
    part.unlink()
    Keeper(part, header, 0).save(state)
    before = part.read_bytes()
    with pytest.raises(RunError, match="begin without"):
        fit(graph, splits, runs_of(), checkpoint=tmp_path, resume=True)
    assert part.read_bytes() == before


def test_tensors_of_something_else_are_refused(
    graph: Graph, splits: Splits, tmp_path: Path
) -> None:
    with pytest.raises(StopError):
        fit(graph, splits, runs_of(), threads=1, checkpoint=tmp_path, on_epoch=killed_at(3))
    part = tmp_path / "part-0.safetensors"
    with safe_open(str(part), framework="pt") as file:
        header = json.loads(file.metadata()["ppro"])
        state = {name: file.get_tensor(name) for name in list(file.keys())}
    for change in ({}, {"x": torch.zeros(1)}, {**state, "record.held": torch.zeros(2)}):
        Keeper(part, header, 0).save(change)
        with pytest.raises(RunError, match="not those of this training"):
            fit(graph, splits, runs_of(), checkpoint=tmp_path, resume=True)


def test_two_trainings_do_not_share_a_checkpoint(
    graph: Graph, splits: Splits, tmp_path: Path
) -> None:
    told: list[str] = []

    def second(done: int, metrics: Tensor, going: int) -> None:
        with pytest.raises(RunError, match="another process trains there") as error:
            fit(graph, splits, runs_of(), checkpoint=tmp_path)
        told.append(str(error.value))

    whole = fit(graph, splits, runs_of(), threads=1, checkpoint=tmp_path, on_epoch=second)
    assert told
    assert os.listdir(tmp_path) == ["part-0.safetensors"]
    assert same(whole, fit(graph, splits, runs_of(), threads=1))


def test_a_pipe_is_no_checkpoint(graph: Graph, splits: Splits, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "part-0.safetensors")
    with pytest.raises(RunError, match="not a regular file"):
        fit(graph, splits, runs_of(), checkpoint=tmp_path, resume=True)


def test_a_checksum_does_not_depend_on_strides() -> None:
    table = torch.arange(12).reshape(3, 4)
    for tensor in (table[1:2, 1:2], table[:1, 2], table[:, 1], table.T, table[0, 0]):
        plain = torch.tensor(tensor.tolist())
        assert digest_of("", {"x": tensor}) == digest_of("", {"x": plain})
