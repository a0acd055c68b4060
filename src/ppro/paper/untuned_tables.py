"""The table of the default beside tuned networks, which a practitioner reads first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from ppro.paper import entrants
from ppro.paper.entrants import Arena, Reached
from ppro.paper.render import section
from ppro.paper.statistics import Comparison, compare
from ppro.paper.store import Store
from ppro.paper.untuned import (
    BUDGETS,
    CHOOSING,
    CONFIGURATIONS,
    CORES,
    NETWORKS,
    SPLITS,
    arenas,
    network,
    tests_of,
    tuned,
)

TITLE = "Without tuning"
_TEXT = f"""\
What `ppro train GRAPH` and `ppro.PPro()` reach where nobody sets anything: the default searches
and trains within {BUDGETS[0]} or {BUDGETS[1]} s on {CORES} cores, anew on every split; `plain` is
one fixed setting. Beside them {", ".join(NETWORKS.values())} and PPro, each tuned over
{CONFIGURATIONS} configurations by the validation accuracy of {CHOOSING} runs on other seeds; the
best of the plain networks by validation is shown. Test accuracy in percent, or what the benchmark
measures (ROC AUC on Minesweeper), which chooses there too; mean ± standard deviation. Differences
are those of the default from that network, paired over the first {SPLITS} splits, with their
standard errors. A search sees no test node; but which networks it may try was settled while looking
at results on Texas, Wisconsin, Cornell, Cora, Citeseer, Amazon Computers and Minesweeper, so the
fair check is a graph that is not here. A dash: not measured yet."""
_HEAD = "graph|MLP|best plain network|plain|" + "|".join(f"default, {b} s" for b in BUDGETS)
_HEAD += "|PPro, tuned|" + "|".join(f"difference, {b} s" for b in BUDGETS)
MISSING = "–"
LOST, BELOW_MLP = 1.0, 0.5
"""Points by which a difference counts as lost."""


@dataclass(frozen=True)
class Row:
    """What was reached on a graph; some of it may not be measured yet."""

    arena: Arena
    mlp: Reached
    best: Reached
    plain: Sequence[float] | None
    defaults: Mapping[int, Sequence[float] | None]
    tuned: Reached | None

    def against(self, budget: int, other: Reached) -> Comparison | None:
        """Return the paired difference of the default from a network, where it is measured."""
        own = self.defaults[budget]
        return None if own is None else compare(own, other.record["test"][: len(own)])


def rows(store: Store, where: Sequence[Arena] | None = None) -> list[Row]:
    """Return the graphs of which all networks and a default are measured."""
    found = (_row(arena, store) for arena in (arenas() if where is None else where))
    return [row for row in found if row is not None]


def _row(arena: Arena, store: Store) -> Row | None:
    reached = {
        name: entrants.reached(arena, network(arena.dataset, name), store) for name in NETWORKS
    }
    best, mlp = entrants.best(reached.values()), reached["mlp"]
    defaults = {budget: tests_of(arena, budget, store) for budget in BUDGETS}
    if best is None or mlp is None or None in reached.values() or not any(defaults.values()):
        return None
    ours = entrants.reached(arena, tuned(arena.dataset), store)
    return Row(arena, mlp, best, tests_of(arena, 0, store), defaults, ours)


def markdown(store: Store, where: Sequence[Arena] | None = None) -> str:
    """Return the table, and what it comes to."""
    found = rows(store, where)
    cells = [_cells(row) for row in found]
    told = section(TITLE, _TEXT, _HEAD, cells, "untuned")
    concluded = [line for budget in BUDGETS if (line := conclusion(found, budget))]
    return told + "".join(f"\n{line}\n" for line in concluded)


def _cells(row: Row) -> list[str]:
    return [
        row.arena.title,
        _spread(row.mlp.record["test"]),
        f"{_spread(row.best.record['test'])} ({row.best.entrant.title})",
        _spread(row.plain),
        *(_spread(row.defaults[budget]) for budget in BUDGETS),
        _spread(None if row.tuned is None else row.tuned.record["test"]),
        *(_difference(row.against(budget, row.best)) for budget in BUDGETS),
    ]


def _spread(values: Sequence[float] | None) -> str:
    if values is None:
        return MISSING
    return f"{fmean(values):.1f} ± {stdev(values) if len(values) > 1 else 0.0:.1f}"


def _difference(found: Comparison | None) -> str:
    return MISSING if found is None else f"{found.difference:+.2f} ± {found.standard_error:.2f}"


def conclusion(found: Sequence[Row], budget: int) -> str:
    """Return how often the default loses, and by how much on average; "" where nothing is known."""
    pairs, below = list[tuple[str, float]](), list[str]()
    for row in found:
        best, mlp = row.against(budget, row.best), row.against(budget, row.mlp)
        if best is not None and mlp is not None:
            pairs.append((row.arena.title, best.difference))
            below += [row.arena.title] if mlp.difference < -BELOW_MLP else []
    if not pairs:
        return ""
    lost = [title for title, difference in pairs if difference < -LOST]
    mean = fmean(difference for _, difference in pairs)
    return (
        f"With {budget} s the default is worse than the best tuned plain network by more than "
        f"{LOST:g} on {_named(lost)} of {len(pairs)} graphs, {mean:+.2f} on average, and below an "
        f"MLP by more than {BELOW_MLP:g} on {_named(below)}."
    )


def _named(titles: Sequence[str]) -> str:
    return f"{len(titles)} ({', '.join(titles)})" if titles else "0"
