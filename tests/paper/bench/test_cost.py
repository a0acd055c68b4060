"""The cost model, checked by hand and against what it says of itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ppro.cli.bench_scale import scale
from ppro.errors import RunError
from ppro.paper.bench.cost import (
    GRAPHS,
    Rates,
    Workload,
    epoch_seconds,
    gradient_bytes,
    predict,
    random_boundary,
)
from ppro.paper.bench.scale_page import page
from ppro.training.memory import PROGRAM

ROOT = Path(__file__).parents[3]
SMALL = Workload("small", 1000, 10_000, 20, 4)


def training(nodes: int, method: str, seconds: float, **changes: Any) -> dict[str, Any]:
    sizes = {"nodes": nodes, "edges": 10 * nodes, "features": 20, "classes": 4, "epochs": 5}
    told = {"peak_bytes": 2.0**30, "estimate_bytes": 2.0**31, "test_accuracy": 50.0}
    return {**sizes, **told, "method": method, "epoch_s": seconds, **changes}


TRAININGS = [
    training(1000, "l2b", 2.0, test_accuracy=70.0),
    training(1000, "mlp", 0.4),
    training(10_000, "l2b", 24.0),
    training(10_000, "mlp", 4.0),
    training(100_000, "l2b", 999.0),
]
MACHINE = {"name": "a machine", "cores": 2, "versions": {"ppro": "0"}}


def test_rates_give_back_the_times_they_were_taken_from() -> None:
    rates = Rates.measured(TRAININGS)
    graph = Workload("", 10_000, 100_000, 20, 4)
    assert epoch_seconds(graph, rates) == pytest.approx(24.0)
    assert epoch_seconds(graph, rates, "mlp") == pytest.approx(4.0)
    assert epoch_seconds(SMALL, rates) == pytest.approx(2.4)
    assert epoch_seconds(SMALL, rates, machines=8) == pytest.approx(0.3)
    # Four passes over 20 * 64 + 64 * 4 multiplications; 40 products that fetch 76 bytes each.
    assert rates.multiplication == pytest.approx(4.0 / (4 * 10_000 * 1536))
    assert rates.byte == pytest.approx((24.0 - 5.0) / (40 * 210_000 * 76))


def test_rates_need_both_methods_and_an_idle_machine() -> None:
    with pytest.raises(RunError, match="no graph with both"):
        Rates.measured(TRAININGS[-1:])
    with pytest.raises(RunError, match="the machine was busy"):
        Rates.measured([training(1000, "l2b", 1.0), training(1000, "mlp", 1.0)])


def test_machines_share_the_graph_and_get_their_ghosts() -> None:
    one, good, poor = predict(SMALL), predict(SMALL, 8, 0.1), predict(SMALL, 8, 1.0)
    assert (one.received, one.messages, one.network) == (0, 0, 0)
    assert good.received == pytest.approx(12.5 * 4 * 4)
    assert good.messages == 7
    assert poor.network > good.network > 0
    assert poor.memory - good.memory == pytest.approx((125 - 12.5) * (3 * 16 + 8))
    alone = predict(SMALL, 8, 0.0).memory - 2 * 16 * 125
    assert (one.memory - PROGRAM) / 8 == pytest.approx(alone - PROGRAM, rel=0.01)
    assert one.disk == 8 * good.disk == 4 * 1000 * 20


def test_nodes_dealt_out_at_random_need_nearly_all_others() -> None:
    dense, bare = Workload("", 1000, 500_000, 1, 2), Workload("", 1000, 500, 1, 2)
    assert random_boundary(dense, 8) == pytest.approx(7)
    # With one neighbour each, a row is needed on one machine in eight.
    assert random_boundary(bare, 8) == pytest.approx(7 / 8)


def test_gradients_are_counted_from_the_model() -> None:
    layers = 20 * 64 + 64 + 64 * 4 + 4
    # z, four embeddings, the step and a bias into 64 units; two heads with a bias.
    controllers = (3 + 4 * 4 + 1 + 1) * 64 + 2 * (64 + 1)
    assert gradient_bytes(SMALL) == 4 * (layers + controllers)


def test_the_page_holds_measurements_and_predictions() -> None:
    text = page({"machine": MACHINE, "trainings": TRAININGS})
    assert "| 1,000 nodes | 10,000 | 4 | l2b | 5 | 2.00 | 2.40 | 200000 | 1.00 | 2.00 |" in text
    assert "- time per edge of L2B, 10,000 / 1,000 nodes, 4 classes: 1.20" in text
    assert "- L2B over the MLP, 1,000 nodes, 4 classes: +20.00 points of test accuracy" in text
    for graph in GRAPHS:
        assert text.count(f"| {graph.name} |") == 8
    assert "| ogbn-papers100M | 64 | 10 % |" in text


RANKS = {
    "trainings": [
        {"graph": "csbm", "nodes": 2000, "ranks": 1, "most_memory_mib": 9.6}
        | {"settings": {"strategy": "l2b", "form": "class"}},
        {"graph": "csbm", "nodes": 2000, "ranks": 2, "most_memory_mib": 5.5, "boundary": 0.25}
        | {"settings": {"strategy": "l2b", "form": "class"}, "largest_loss_difference": 1e-7}
        | {"product_bytes": 10_000, "model_bytes": 10_000.0}
        | {"same_steps": 1.0, "same_predictions": 0.9995},
    ]
}


def test_ranks_stand_beside_one_process() -> None:
    text = page({"machine": MACHINE, "trainings": TRAININGS}, RANKS)
    assert "| csbm | 2,000 | l2b | class | 1 | - | - | - | 10 | - | - | - |" in text
    told = "| 25 % | 10,000 | 10,000 | 6 | 1.0e-07 | 100.00 % | 99.95 % |"
    assert f"| csbm | 2,000 | l2b | class | 2 {told}" in text


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured, ranks = tmp_path / "large.json", tmp_path / "ranks.json"
    measured.write_text(json.dumps({"machine": MACHINE, "trainings": TRAININGS}))
    scale(measured, ranks, tmp_path / "new" / "scale.md")
    scale(measured, ranks)
    printed = capsys.readouterr().out
    assert (tmp_path / "new" / "scale.md").read_text(encoding="utf-8") in printed
    with pytest.raises(RunError, match="cannot be written"):
        scale(measured, ranks, measured / "x.md")
    with pytest.raises(RunError, match=r"none\.json: missing; run 'ppro bench large'"):
        scale(tmp_path / "none.json", ranks)
    ranks.write_text("{")
    with pytest.raises(RunError, match=r"ranks\.json: cannot be read as a report"):
        scale(measured, ranks)
    ranks.write_text("{}")
    with pytest.raises(RunError, match="not a report"):
        scale(measured, ranks)


def test_the_page_on_scale_is_what_was_rendered() -> None:
    measured, ranks = (ROOT / "results/bench" / f"{name}.json" for name in ("large", "distributed"))
    of_ranks = json.loads(ranks.read_text(encoding="utf-8")) if ranks.exists() else None
    expected = page(json.loads(measured.read_text(encoding="utf-8")), of_ranks)
    told = "run: ppro bench scale --page docs/scale.md"
    assert (ROOT / "docs" / "scale.md").read_text(encoding="utf-8") == expected, told
