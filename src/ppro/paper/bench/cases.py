"""What the benchmark measures: a graph, a form, a depth, a strategy, a number of runs."""

from dataclasses import dataclass, replace
from functools import lru_cache

from ppro.data import Splits, default_split, load_graph, make_splits
from ppro.graph.core import Graph
from ppro.nn.backbones.appnp import Form
from ppro.settings.settings import PPRO, Settings

DEPTHS = (2, 8, 16, 64)
FORMS: tuple[Form, ...] = ("class", "hidden")
GENERATED = {"1m-edges": 100_000, "10m-edges": 1_000_000}
"""Nodes of the generated graphs; twenty neighbours each, so ten times as many edges."""
DENSER = ("amazon-cs", "blogcatalog")
"""Graphs with more edges, of whose features a third and a hundredth are filled."""
MODELS = {"gcn": 2, "gcnii": 16, "res-gcn": 4}
"""Networks of our own layers that are measured beside PyTorch Geometric's, and their depths."""


@dataclass(frozen=True)
class Case:
    """One row of the benchmark.

    Args:
        form: of APPNP; a model of its own has none.
        judges: of controllers that compare; None for those of the paper.
        model: ppro, or a network without controllers.
    """

    graph: str
    form: Form | None
    max_steps: int
    strategy: str
    runs: int = 1
    judges: str | None = None
    model: str = PPRO

    @property
    def cycle(self) -> int:
        """Epochs after which all kinds of them have come: controllers are not judged in each."""
        return 1 if self.judges is None else self.settings()[0].controllers.judge_every

    def settings(self) -> list[Settings]:
        """Settings of each run; ε = 1 sends the nodes of L2B to the end, its costliest case."""
        own = {"form": self.form} if self.model == PPRO else {"hidden": 64}
        base = Settings(
            model=self.model,
            strategy=self.strategy,
            max_steps=self.max_steps,
            epsilon=1.0 if self.strategy == "l2b" else 0.5,
            feature_norm="none" if self.graph in GENERATED else "row",
            epochs=2000,
            teaching="paper" if self.judges is None else "compare",
            judges=self.judges,
            **own,
        )
        return [base.replace(seed=run) for run in range(self.runs)]


def judged_cases() -> list[Case]:
    """Return L2B on Cora as the paper teaches it, and under every kind of judges."""
    return [
        Case("cora", form, 10, "l2b", judges=judges)
        for form in FORMS
        for judges in (None, "train", "folds")
    ]


def cases(quick: bool, gpu: bool) -> list[Case]:
    """Return the cases for a machine; ``quick`` leaves out the generated graphs and most depths."""
    strategies: tuple[str, ...] = ("none", "l2b", "l2u")
    found = [
        Case(graph, form, 10, strategy)
        for graph in ("cora", "pubmed")
        for form in FORMS
        for strategy in strategies
    ]
    found += [case for case in judged_cases() if case.judges is not None]
    cora = Case("cora", "hidden", 10, "l2b")
    found += [replace(cora, runs=runs) for runs in ((10, 100, 400) if gpu else (10,))]
    if quick:
        return found
    found += [Case(graph, "class", 10, strategy) for graph in DENSER for strategy in strategies]
    found += [
        Case(graph, None, depth, "none", model=model)
        for graph in ("cora", "pubmed")
        for model, depth in MODELS.items()
    ]
    found += [replace(cora, max_steps=depth) for depth in DEPTHS]
    found += [Case(graph, "class", 10, s) for graph in GENERATED for s in ("none", "l2b")]
    return found


@lru_cache(maxsize=1)
def bench_graph(name: str) -> tuple[Graph, Splits]:
    """Return a benchmark graph and its split, one run of it."""
    if name in GENERATED:
        options = {"nodes": GENERATED[name], "classes": 7, "features": 32, "degree": 20}
        graph = load_graph("csbm", options=options)
        return graph, make_splits(graph, "csbm", "random-60-20-20", 1, 0)
    graph = load_graph(name)
    return graph, make_splits(graph, name, default_split(name), 1, 0)
