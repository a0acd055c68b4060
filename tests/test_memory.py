from __future__ import annotations

import pytest
import torch

from ppro.config import Settings
from ppro.errors import SettingsError
from ppro.large_graph import FeatureRows, LargeGraph
from ppro.memory import GIB, available, check_fits, estimate


def imagined(nodes: int, edges: int, features: int = 128, classes: int = 10) -> LargeGraph:
    """A graph of which only the sizes are there."""

    def nothing(*_: object) -> torch.Tensor:
        raise AssertionError("an estimate reads no features")

    return LargeGraph(
        "imagined",
        torch.empty(nodes + 1, dtype=torch.int64, device="meta"),
        torch.empty(2 * edges, dtype=torch.int32, device="meta"),
        FeatureRows((nodes, features), nothing, nothing),
        torch.empty(nodes, dtype=torch.int64, device="meta"),
        tuple(map(str, range(classes))),
    )


BIG = imagined(10_000_000, 100_000_000)
CLASS = Settings(form="class")


def test_ten_million_nodes_fit_sixteen_gib_whatever_the_depth_and_the_features() -> None:
    assert estimate(BIG, CLASS, 1).total < 16 * GIB
    deep = estimate(BIG, CLASS.replace(max_steps=64), 1)
    wide = estimate(imagined(10_000_000, 100_000_000, features=1000), CLASS, 1)
    assert deep == wide == estimate(BIG, CLASS, 1)


@pytest.mark.parametrize(
    "more",
    [{"form": "hidden"}, {"edge_dropout": 0.5}, {"normalisation": "row"}, {"model": "mlp"}],
)
def test_what_costs_more_is_estimated_higher(more: dict[str, object]) -> None:
    costly = CLASS.model_copy(update={"strategy": "none", **more})
    assert estimate(BIG, costly, 1).total > estimate(BIG, CLASS, 1).total


def test_every_run_counts() -> None:
    one, three = (estimate(BIG, CLASS, runs) for runs in (1, 3))
    assert three.embeddings == 3 * one.embeddings
    assert three.edges == one.edges


def test_what_cannot_fit_is_refused_with_the_numbers() -> None:
    with pytest.raises(SettingsError, match=r"needs about .* GiB \(edges 2\..*2\.0 GiB are free"):
        check_fits(BIG, CLASS, 1, room=2 * GIB)
    with pytest.raises(SettingsError, match="fewer runs"):
        check_fits(BIG, CLASS, 10, room=16 * GIB)
    with pytest.raises(SettingsError, match="form=class"):
        check_fits(BIG, Settings(), 1, room=16 * GIB)
    assert check_fits(BIG, CLASS, 1, room=16 * GIB).total > GIB


def test_the_system_says_what_is_free() -> None:
    free = available()
    assert free is None or free > 0
