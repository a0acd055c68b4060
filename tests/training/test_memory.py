from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from ppro.errors import SettingsError
from ppro.graph.large import FeatureRows, LargeGraph
from ppro.settings.settings import Settings
from ppro.training.memory import GIB, Estimate, Sizes, available, check_fits, estimate


def imagined(nodes: int, edges: int, classes: int = 10) -> LargeGraph:
    """A graph of which only the sizes are there."""

    def nothing(*_: object) -> torch.Tensor:
        raise AssertionError("an estimate reads no features")

    return LargeGraph(
        "imagined",
        torch.empty(nodes + 1, dtype=torch.int64, device="meta"),
        torch.empty(2 * edges, dtype=torch.int32, device="meta"),
        FeatureRows((nodes, 128), nothing, nothing),
        torch.empty(nodes, dtype=torch.int64, device="meta"),
        tuple(map(str, range(classes))),
    )


GRAPH = imagined(10_000_000, 100_000_000)
BIG = Sizes.of(GRAPH)
CLASS = Settings(form="class")


def test_ten_million_nodes_fit_sixteen_gib_whatever_the_depth() -> None:
    assert (BIG.nodes, BIG.edges, BIG.classes) == (10_000_000, 100_000_000, 10)
    assert estimate(BIG, CLASS, 1).total < 16 * GIB
    assert estimate(BIG, CLASS.replace(max_steps=64), 1) == estimate(BIG, CLASS, 1)


@pytest.mark.parametrize(
    "more",
    [
        {"form": "hidden"},
        {"form": "features"},
        {"edge_dropout": 0.5},
        {"normalisation": "row"},
        {"model": "gcn"},
        {"model": "dagnn"},
        {"strategy": "l2b", "teaching": "compare", "judges": "train"},
    ],
)
def test_what_costs_more_is_estimated_higher(more: dict[str, object]) -> None:
    costly = CLASS.replace(**{"strategy": "none", **more})
    assert estimate(BIG, costly, 1).total > estimate(BIG, CLASS, 1).total


@pytest.mark.parametrize("model", ["mlp", "appnp", "sgc"])
def test_rivals_that_take_blocks_cost_no_more(model: str) -> None:
    rival = CLASS.replace(strategy="none", model=model)
    assert estimate(BIG, rival, 1) == estimate(BIG, CLASS, 1)


def test_features_propagate_in_the_hidden_width() -> None:
    hidden, features = (Settings(form=form, hidden=32) for form in ("hidden", "features"))
    assert estimate(BIG, features, 1) == estimate(BIG, hidden, 1)


def test_grand_propagates_as_much_as_there_are_features() -> None:
    grand, hidden = Settings(backbone="grand", consistency=1.0), Settings(hidden=500)
    few, many = (estimate(replace(BIG, features=f), grand, 1) for f in (10, 500))
    assert few.total < many.total
    assert many == estimate(BIG, hidden, 1)


def test_columns_of_a_huge_graph_are_longer() -> None:
    most = Sizes(10_000_000, 1_000_000_000, 10)
    more = Sizes(10_000_000, 1_100_000_000, 10)
    per_entry = [estimate(s, CLASS, 1).edges / (2 * s.edges + s.nodes) for s in (most, more)]
    assert per_entry[1] - per_entry[0] == pytest.approx(4, abs=0.01)


def test_every_run_counts() -> None:
    one, three = (estimate(BIG, CLASS, runs) for runs in (1, 3))
    assert three.embeddings == 3 * one.embeddings
    assert three.edges == one.edges


def test_what_cannot_fit_is_refused_with_the_numbers() -> None:
    with pytest.raises(SettingsError, match=r"needs about .* GiB \(edges 2\..*2\.0 GiB are free"):
        check_fits(GRAPH, CLASS, 1, room=2 * GIB)
    with pytest.raises(SettingsError, match="fewer runs"):
        check_fits(GRAPH, CLASS, 10, room=16 * GIB)
    for form in ("hidden", "features"):
        with pytest.raises(SettingsError, match="set form=class, which keeps features on disk"):
            check_fits(GRAPH, Settings(form=form), 1, room=16 * GIB)
    assert check_fits(GRAPH, CLASS, 1, room=16 * GIB).total > GIB


def test_the_system_says_what_is_free() -> None:
    free = available()
    assert free is None or free > 0


def test_judges_are_backbones_and_every_step_predicts() -> None:
    def needed(**changes: object) -> Estimate:
        return estimate(BIG, CLASS.replace(teaching="compare", **changes), 1)

    train, three, six = (
        needed(**changes) for changes in ({"judges": "train"}, {}, {"judge_folds": 6})
    )
    assert three.embeddings == 4 * train.embeddings
    assert six.predictions == 7 * train.predictions
    assert needed(max_steps=21).predictions == 2 * three.predictions
    assert "predictions" in str(three)
    assert "predictions" not in str(estimate(BIG, CLASS, 1))
    # The scores and the neighbours' mean of every step, node and class, in single precision.
    assert train.predictions >= 2 * 4 * 11 * BIG.nodes * BIG.classes
    assert estimate(BIG, CLASS.replace(teaching="compare", strategy="none"), 1) == estimate(
        BIG, CLASS.replace(strategy="none"), 1
    )
