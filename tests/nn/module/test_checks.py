"""Inputs of another shape or kind are refused in one sentence, before they teach anything."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import ppro.nn
from ppro.errors import SettingsError
from tests.nn.module.support import CLASSES, FEATURES, NODES, toy_graph, toy_model

X, EDGES, Y = toy_graph()
EDGE_COUNT = EDGES.shape[1]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"x": X[:, :5]}, r"x has shape \(40, 5\).*6 columns"),
        ({"x": X[:, 0]}, "x has shape"),
        ({"x": X.unsqueeze(0)}, "x has shape"),
        ({"x": X[:0], "edge_index": EDGES[:, :0]}, r"x has shape \(0, 6\)"),
        ({"x": X.to_sparse()}, "layout torch.sparse_coo.*to_sparse_csr"),
        ({"x": X.double()}, r"x is torch.float64, but the weights are torch.float32"),
        ({"x": X.long()}, "x is torch.int64"),
        ({"x": X.numpy()}, "x is ndarray"),
        ({"edge_index": EDGES.T}, "edge_index has shape"),
        ({"edge_index": EDGES.float()}, r"edge_index is torch.float32.*long\(\)"),
        ({"edge_index": torch.eye(NODES).to_sparse()}, r"a sparse matrix: A.coalesce\(\)"),
        ({"edge_index": EDGES + 1}, "but nodes count from 0 to 39"),
        ({"edge_index": EDGES - 1}, "but nodes count from 0 to 39"),
        ({"edge_weight": torch.ones(3)}, r"edge_weight has shape \(3,\)"),
        ({"edge_weight": torch.ones(EDGE_COUNT, 1)}, "edge_weight has shape"),
    ],
)
@pytest.mark.parametrize("of_loss", [False, True])
def test_wrong_inputs(changes: dict[str, Any], told: str, of_loss: bool) -> None:
    given = {"x": X, "edge_index": EDGES, **changes}
    model = toy_model()
    with pytest.raises(SettingsError, match=told) as error:
        model.controller_loss(y=Y[: len(given["x"])], **given) if of_loss else model(**given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (Y[:10], r"y has shape \(10,\) for 40 nodes; give a label for every node"),
        (Y.unsqueeze(1), r"y.squeeze\(1\)"),
        (Y.float(), r"y.long\(\)"),
        (Y > 0, r"y.long\(\)"),
        (Y.numpy(), "y is ndarray"),
    ],
)
def test_labels_are_those_of_all_nodes(labels: Any, told: str) -> None:
    model = toy_model()
    logits = model(X, EDGES)
    with pytest.raises(SettingsError, match=told):
        model.backbone_loss(logits, labels)
    with pytest.raises(SettingsError, match=told):
        model.controller_loss(X, EDGES, labels)


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8])
def test_labels_may_be_of_fewer_bits(dtype: torch.dtype) -> None:
    model = toy_model().eval()
    logits = model(X, EDGES)
    assert model.backbone_loss(logits, Y.to(dtype)) == model.backbone_loss(logits, Y)


@pytest.mark.parametrize(
    ("mask", "told"),
    [
        ((Y > 0).long(), r"would mean the nodes 0 and 1; give mask.bool\(\)"),
        ((Y > 0).float(), "a mask of torch.float32"),
        (torch.ones(5, dtype=torch.bool), r"a mask of shape \(5,\) for 40 nodes"),
        (torch.ones(NODES, 2, dtype=torch.bool), "a mask of shape"),
    ],
)
def test_masks_that_would_mean_other_nodes(mask: Tensor, told: str) -> None:
    model = toy_model()
    with pytest.raises(SettingsError, match=told):
        model.backbone_loss(model(X, EDGES), Y, mask)


def test_a_criterion_of_one_s_own_takes_labels_of_its_own_kind() -> None:
    def squared(logits: Tensor, wanted: Tensor) -> Tensor:
        return F.mse_loss(logits, wanted, reduction="none").mean(-1)

    model = toy_model(criterion=squared)
    wanted = F.one_hot(Y, CLASSES).float()
    assert torch.isfinite(model.backbone_loss(model(X, EDGES), wanted))
    with pytest.raises(SettingsError, match="give a label for every node"):
        model.controller_loss(X, EDGES, wanted[:7])


@pytest.mark.parametrize("sizes", [(0, CLASSES), (FEATURES, -1), ("6", CLASSES), (6.0, CLASSES)])
def test_sizes_are_whole_numbers(sizes: tuple[Any, Any]) -> None:
    with pytest.raises(SettingsError, match="give a whole number from 1"):
        ppro.nn.PPro(sizes[0], 8, sizes[1], num_steps=2)
    assert isinstance(ppro.nn.PPro(FEATURES, 8, 1, num_steps=2), nn.Module)
