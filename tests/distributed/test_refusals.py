"""What ranks cannot share is refused with a remedy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from ppro.data.large import LargePlan, generate_large, read_large
from ppro.data.splits import fixed_splits
from ppro.distributed import RankGroup, fit_shared, fitting, joined
from ppro.distributed.features import reader, rows_of_matrix
from ppro.distributed.group import device_of_rank, speaking
from ppro.distributed.partition import contiguous, metis, owners
from ppro.errors import RankError, SettingsError
from ppro.settings.settings import Settings
from tests.distributed.test_adjacency import a_graph


class Several(RankGroup):
    """Ranks of which only this one is there."""

    def __init__(self, size: int) -> None:
        self.rank, self.size = 0, size

    def from_first(self, values: torch.Tensor) -> torch.Tensor:
        return values


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"model": "gcn"}, "model gcn"),
        ({"backbone": "gat"}, "backbone gat"),
        ({"consistency": 0.5}, "consistency"),
        ({"judge_share": 0.5}, "judge_share"),
        ({"direction": "in"}, "direction=in: several ranks exchange"),
        ({"teaching": "compare"}, "teaching=compare: a rank does not see"),
    ],
)
def test_a_setting_that_needs_all_nodes_is_refused(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError, match=named) as error:
        fitting.check_shareable(a_graph(), [Settings(**changes)])
    assert "without torchrun" in str(error.value)


def test_a_graph_of_another_kind_is_refused() -> None:
    class Other(type(a_graph())):  # type: ignore[misc]
        pass

    graph = a_graph()
    other = Other(*(getattr(graph, name) for name in graph.__dataclass_fields__))
    with pytest.raises(SettingsError, match="edges of one kind"):
        fitting.check_shareable(other, [Settings()])


def test_partitions_are_named_and_leave_no_rank_empty() -> None:
    graph = a_graph()
    assert torch.bincount(owners(graph, Several(4), "contiguous")).tolist() == [15] * 4
    parts = torch.bincount(owners(graph, Several(4), "metis").long())
    assert parts.shape == (4,)
    assert int(parts.max()) <= 17
    with pytest.raises(SettingsError, match="unknown"):
        owners(graph, Several(2), "random")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="fewer ranks"):
        owners(graph, Several(100), "contiguous")


def test_metis_cuts_fewer_edges_than_blocks() -> None:
    graph = a_graph()
    source, target = graph.edge_index
    cuts = [int((p[source] != p[target]).sum()) for p in (metis(graph, 3), contiguous(60, 3))]
    assert cuts[0] < cuts[1]


def test_a_missing_metis_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(SettingsError, match=r"ppro\[distributed\]"):
        metis(a_graph(), 2)


def test_a_broken_connection_becomes_an_error_with_a_remedy() -> None:
    with pytest.raises(RankError, match=r"--resume.*\(Connection closed by peer\)"), speaking():
        raise RuntimeError("[gloo/pair.cc:1] Connection closed by peer. This is typical.")
    with pytest.raises(RuntimeError, match="size mismatch"), speaking():
        raise RuntimeError("size mismatch")


def test_a_process_that_nobody_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SettingsError, match=r"MASTER_ADDR is not set: .* torchrun"), joined():
        pass


def test_a_graph_that_does_not_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate_large(tmp_path, LargePlan(nodes=300, degree=6, classes=3, features=4))
    graph, masks = read_large(tmp_path)
    assert masks is not None
    splits = fixed_splits(masks, graph.labels, "stated", 1)
    monkeypatch.setattr(fitting, "available", lambda: 2**30)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    with pytest.raises(SettingsError, match="each of 4 ranks on this machine needs about"):
        fit_shared(graph, splits, [Settings()], Several(4))


def test_a_rank_without_a_gpu_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "3")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert device_of_rank(torch.device("cpu")) == torch.device("cpu")
    with pytest.raises(SettingsError, match="--device cpu"):
        device_of_rank(torch.device("cuda"))


def test_rows_are_read_by_their_numbers() -> None:
    matrix, reads = torch.arange(600.0).view(200, 3), []

    def read(rows: slice) -> torch.Tensor:
        reads.append(rows.stop - rows.start)
        return matrix[rows]

    nodes = torch.tensor([2, 3, 5, 90, 91, 199, 4, 6])
    found = reader(read, nodes)
    assert found(slice(0, 8)).equal(matrix[nodes])
    assert reads == [4, 2, 1, 3]
    assert found(slice(3, 5)).equal(matrix[[90, 91]])
    sparse = torch.where(matrix % 2 == 0, matrix, 0.0)
    assert rows_of_matrix(sparse.to_sparse_csr(), nodes).to_dense().equal(sparse[nodes])
