"""Several ranks against one process: losses, steps, predictions and weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ppro.data import Splits, load_graph, make_splits
from ppro.data.large import LargePlan, generate_large, read_large
from ppro.data.splits import fixed_splits
from ppro.distributed import RankGroup, fit_shared
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.fit import Fit, fit
from tests.distributed.spawned import on_ranks

RUNS = 2
OPTIONS = {"nodes": 150, "classes": 3, "features": 20, "degree": 5}
FORMS = ("class", "hidden", "features")
CASES: dict[str, dict[str, Any]] = {
    "l2b": {},
    "l2b class": {"form": "class", "normalisation": "row", "edge_dropout": 0.2},
    "l2u": {"strategy": "l2u", "node_dropout": 0.1, "controller_inputs": "predictions"},
    "l2u class": {"strategy": "l2u", "form": "class", "self_loops": False, "use_progress": True},
    "l2b features": {"form": "features", "concat": True, "node_dropout": 0.2},
    "l2u features": {"strategy": "l2u", "form": "features", "self_loops": False},
    "none": {"strategy": "none", "concat": True},
    "none class": {"strategy": "none", "form": "class", "selection": "smoothed"},
    "gcn": {"backbone": "gcn", "max_steps": 2, "dropout": 0.3},
    "gcn-scores": {"backbone": "gcn-scores", "dropout": 0.3},
    "gcnii": {"backbone": "gcnii", "decay": "all"},
    "sgc": {"backbone": "sgc"},
    "fading": {"fading": 2.0},
    "mean": {"priority_scale": "mean", "lr_controller": 0.05},
    "mean tanh": {"strategy": "l2u", "priority_scale": "mean", "weight_form": "tanh"},
    "roc-auc": {"metric": "roc-auc"},
    "macro-f1": {"metric": "macro-f1", "strategy": "l2u"},
}


def settings(**changes: Any) -> list[Settings]:
    """Runs that stop at different epochs."""
    common = {"hidden": 16, "controller_units": 8, "max_steps": 4, "epochs": 12, "patience": 6}
    rates = (0.01, 0.03)
    return [Settings(**{**common, "seed": r, "lr": rates[r], **changes}) for r in range(RUNS)]


def world() -> tuple[Graph, Splits]:
    graph = load_graph("csbm", options=OPTIONS)
    return graph, make_splits(graph, "csbm", "random-60-20-20", RUNS, 0)


def one_sided(graph: Graph) -> Splits:
    """Training nodes in the first half alone, in one run only validation nodes in the second."""
    number = torch.arange(graph.num_nodes)
    train = torch.stack([number % 3 == 0, number % 3 == 1]) & (number < graph.num_nodes // 2)
    val = torch.stack([number % 3 == 2, (number % 3 == 0) & (number > graph.num_nodes // 2)])
    return Splits("one-sided", train, val, ~(train | val))


def essence(result: Fit) -> dict[str, Any]:
    """What must be the same, as arrays."""
    tensors = {
        "metrics": result.history.metrics,
        "best_epoch": result.history.best_epoch,
        "steps": result.nodes.steps,
        "probabilities": result.nodes.probabilities,
        "priorities": result.nodes.priorities,
        "val": result.val_accuracy,
        "test": result.test_accuracy,
        **dict(result.model.named_parameters()),
    }
    return {name: tensor.detach().numpy() for name, tensor in tensors.items()}


def shared(ranks: RankGroup, cases: list[str]) -> list[dict[str, Any] | None]:
    """Some of the cases on these ranks, then the splits of which a rank has no node."""
    graph, splits = world()
    jobs: list[tuple[Splits, list[Settings], dict[str, Any]]] = [
        (splits, settings(**CASES[case]), {}) for case in cases
    ]
    weights: dict[str, Any] = {"class_weight": "balanced", "partition": "contiguous"}
    jobs.append((one_sided(graph), settings(), weights))
    found = []
    for masks, chosen, options in jobs:
        result = fit_shared(graph, masks, chosen, ranks, threads=1, **options)
        found.append(None if result is None else essence(result))
    return found


def check_equal(got: dict[str, Any], expected: dict[str, Any], rounding: float = 2e-6) -> None:
    """Equal but for rounding, which a ReLU close to 0 may magnify; in float64 it stays out."""
    assert got.keys() == expected.keys()
    np.testing.assert_allclose(got["metrics"], expected["metrics"], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        got["metrics"][:2], expected["metrics"][:2], rtol=rounding, atol=rounding / 2
    )
    assert (got["best_epoch"] == expected["best_epoch"]).all()
    assert (got["steps"] == expected["steps"]).mean() >= 0.999
    assert got["val"].tolist() == expected["val"].tolist()
    assert got["test"].tolist() == expected["test"].tolist()
    chosen = (answer["probabilities"].argmax(-1) for answer in (got, expected))
    assert np.equal(*chosen).mean() >= 0.999
    for name in expected.keys() - {"metrics", "best_epoch", "steps", "val", "test"}:
        np.testing.assert_allclose(got[name], expected[name], atol=1e-3, err_msg=name)


@pytest.mark.parametrize(("size", "cases"), [(2, list(CASES)), (4, ["l2b", "l2u class"])])
def test_ranks_train_as_one_process_does(size: int, cases: list[str]) -> None:
    graph, splits = world()
    first, *others = on_ranks(size, shared, cases)
    assert all(answer is None for answers in others for answer in answers)
    for got, case in zip(first, cases, strict=False):
        alone = fit(graph, splits, settings(**CASES[case]), threads=1)
        # The errors of the first epochs are nearly equal, and standardised by their small spread.
        check_equal(got, essence(alone), 5e-5 if case.startswith("mean") else 2e-6)
    alone = fit(graph, one_sided(graph), settings(), threads=1, class_weight="balanced")
    check_equal(first[-1], essence(alone))


def from_folder(ranks: RankGroup, folder: Path) -> list[dict[str, Any] | None]:
    graph, masks = read_large(folder)
    assert masks is not None
    splits = fixed_splits(masks, graph.labels, "stated", RUNS)
    found = []
    for form in FORMS:
        result = fit_shared(graph, splits, settings(form=form, epochs=6), ranks, threads=1)
        found.append(None if result is None else essence(result))
    return found


def test_a_graph_on_disk_is_shared_too(tmp_path: Path) -> None:
    generate_large(tmp_path, LargePlan(nodes=1500, degree=6, classes=3, features=8))
    graph, masks = read_large(tmp_path)
    assert masks is not None
    splits = fixed_splits(masks, graph.labels, "stated", RUNS)
    found = on_ranks(2, from_folder, tmp_path)[0]
    for got, form in zip(found, FORMS, strict=True):
        alone = fit(graph, splits, settings(form=form, epochs=6), threads=1)
        check_equal(got, essence(alone))
