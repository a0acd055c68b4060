"""No regressions: what epochs do, exactly, and how long they take beside the peer, roughly.

When a change makes an epoch do more or less on purpose,
``python -m tests.paper.bench.test_counted`` counts anew.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from ppro.paper.bench import Case
from ppro.paper.bench.cases import MODELS, bench_graph
from ppro.paper.bench.counted import Counts, count
from ppro.paper.bench.floor import kernels_of
from ppro.paper.bench.measure import our_epoch
from ppro.paper.bench.peer import FORMS, Peer
from ppro.training.threads import use_threads

FILE = Path(__file__).with_name("counted.json")
CPU = torch.device("cpu")
DEPTH = 4
CASES = {
    **{
        f"{form} {strategy}": Case("digits", form, DEPTH, strategy)
        for form in ("class", "hidden")
        for strategy in ("none", "l2b", "l2u")
    },
    "hidden l2b, 3 runs": Case("digits", "hidden", DEPTH, "l2b", runs=3),
    **{model: Case("digits", None, 2, "none", model=model) for model in MODELS},
}
SLOWEST = 6.0
"""Times the peer's time that an epoch may take; on an idle machine it takes less than one."""


def counts_of(case: Case) -> Counts:
    """Count an epoch after the first ones, in which buffers are made and states first kept."""
    epoch = our_epoch(case, *bench_graph(case.graph), CPU)
    for _ in range(2):
        epoch()
    return min((count(epoch) for _ in range(3)), key=lambda counts: counts.operators)


def expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", list(CASES))
def test_an_epoch_makes_the_products_that_algorithm_1_needs(name: str) -> None:
    """Forward, adjoint and validation; with controllers the second pass besides."""
    case = CASES[name]
    passes = 4 if case.strategy in ("l2b", "l2u") else 3
    assert counts_of(case).steps == passes * case.max_steps


@pytest.mark.parametrize("name", list(CASES))
def test_an_epoch_does_what_it_did(name: str) -> None:
    known = expected()
    if known["torch"] != torch.__version__.split("+")[0]:
        pytest.skip(f"counted with PyTorch {known['torch']}")
    told = "it does other work than before: python -m tests.paper.bench.test_counted counts anew"
    assert asdict(counts_of(CASES[name])) == known["epochs"][name], told


@pytest.mark.parametrize("strategy", ["none", "l2b", "l2u"])
def test_an_epoch_is_not_far_slower_than_the_peer(strategy: str) -> None:
    """The margin is wide: other work on the machine must not fail it, a slow kernel must."""
    from ppro.paper.bench.measure import in_turn

    use_threads(1)
    case = Case("csbm", "class", 10, strategy)
    graph, splits = bench_graph(case.graph)
    epoch = our_epoch(case, graph, splits, CPU)
    peers = {
        form.name: Peer(graph, splits, case.settings()[0], CPU, form).epoch
        for form in FORMS
        if not (form.compiled or form.sparse)
    }
    times = {name: min(found) for name, found in in_turn(epoch, peers, CPU, 0.3).items()}
    assert times.pop("ours") < SLOWEST * min(times.values())


def test_counting_sees_what_is_made_anew_and_nothing_else() -> None:
    a, out = torch.ones(10), torch.empty(10)

    def work() -> None:
        torch.add(a, a, out=out)
        a.view(2, 5).mul_(2)
        torch.add(a, 1)

    assert count(work) == Counts(0, 0, 4, 40)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_kernels_of_an_epoch_do_not_grow() -> None:
    known = expected()["kernels"]
    for name, most in known.items():
        device = torch.device("cuda")
        epoch = our_epoch(CASES[name], *bench_graph("digits"), device)
        for _ in range(5):
            epoch()
        assert kernels_of(epoch) <= most


if __name__ == "__main__":
    before = expected() if FILE.exists() else {"kernels": {}}
    made = {name: asdict(counts_of(case)) for name, case in CASES.items()}
    version = torch.__version__.split("+")[0]
    text = json.dumps({"torch": version, "epochs": made, "kernels": before["kernels"]}, indent=1)
    FILE.write_text(text + "\n", encoding="utf-8")
