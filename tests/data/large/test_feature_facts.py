"""A large graph is described as the same graph in memory is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from ppro.data import statistics
from ppro.data.files.edges import EdgeFacts
from ppro.data.files.findings import findings
from ppro.data.files.reading import Reading
from ppro.data.files.schema import Schema
from ppro.data.large import LargePlan, checks, generate_large, read_large
from ppro.data.statistics import describe
from ppro.graph.core import Graph
from ppro.graph.large import LargeGraph
from ppro.search.choice import norm_of

PLAN = LargePlan(nodes=200, degree=3, classes=3, features=4, train=0.4, val=0.2)


def both(folder: Path) -> tuple[LargeGraph, Graph]:
    """A graph with a constant feature, rows of zeros, twins and unlabelled nodes; and a copy."""
    generate_large(folder, PLAN)
    x, labels = np.load(folder / "features.npy"), np.load(folder / "labels.npy")
    x[:, 2] = 0
    x[5] = 0
    x[6] = -0.0
    x[8] = x[9] = x[150]
    labels[::7] = -1
    np.save(folder / "features.npy", x)
    np.save(folder / "labels.npy", labels)
    large, _ = read_large(folder)
    names = ["0", "1", "2"]
    copy = torch.from_numpy(x.copy())
    return large, Graph.build("g", large.edge_index, copy, large.labels, class_names=names)


def reading(graph: Graph) -> Reading:
    schema = Schema(kind="arrays", num_features=4, class_names=graph.class_names)
    return Reading(graph, schema, None, EdgeFacts(1, 0, 0, 0, 1), ())


def test_numbers_and_findings_are_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large, small = both(tmp_path)
    monkeypatch.setattr(statistics, "BLOCK_ROWS", 17)
    monkeypatch.setattr(checks, "BLOCK", 52)
    found, expected = describe(large), describe(small)
    for key, value in expected.items():
        if key != "name":
            assert found[key] == pytest.approx(value), key  # type: ignore[literal-required]
    assert findings(reading(large)) == findings(reading(small))
    facts = checks.feature_facts(large.rows)
    assert facts == checks.FeatureFacts(constant=1, zero=2, twins=3)


def test_the_norm_is_chosen_from_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large, _ = both(tmp_path)
    monkeypatch.setattr("ppro.search.choice.BLOCK_ROWS", 13)
    assert norm_of(large) == "none"
    x = np.abs(np.load(tmp_path / "features.npy"))
    np.save(tmp_path / "features.npy", x)
    assert norm_of(read_large(tmp_path)[0]) == "row"
    x[-1, 0] = -1
    np.save(tmp_path / "features.npy", x)
    assert norm_of(read_large(tmp_path)[0]) == "none"
