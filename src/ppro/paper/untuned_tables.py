"""The table of the default beside tuned networks, which a practitioner reads first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from ppro.paper import entrants
from ppro.paper.entrants import Arena, Reached
from ppro.paper.render import section
from ppro.paper.statistics import Comparison, compare, with_error
from ppro.paper.store import Store
from ppro.paper.untuned import (
    CHOOSING,
    CONFIGURATIONS,
    CORES,
    DEFAULTS,
    NETWORKS,
    PLAIN,
    SPLITS,
    Way,
    arenas,
    is_dated,
    network,
    tests_of,
    tuned,
)

TITLE = "Without tuning"
_TEXT = f"""\
What `ppro train GRAPH` and `ppro.PPro()` reach where nobody sets anything: the default searches
and trains within the seconds above its column, on {CORES} cores or on a GPU, anew on every split;
`plain` is one fixed setting. Beside them {", ".join(NETWORKS.values())} and PPro, each tuned over
{CONFIGURATIONS} configurations by the validation accuracy of {CHOOSING} runs on other seeds; the
best of the plain networks by validation is shown, of those that are measured where a number says
so. Test accuracy in percent, or what the benchmark
measures (ROC AUC on Minesweeper), which chooses there too; mean ± standard deviation. Differences
are those of the default from that network, paired over the first {SPLITS} splits, with their
standard errors. A search sees no test node; but which networks it tries, and which of them go on,
was settled while looking at results on Texas, Wisconsin, Cornell, Cora, Citeseer, Pubmed, Actor,
Amazon Computers and Minesweeper, at validation accuracy on Chameleon, Squirrel, Cora-ML and
BlogCatalog, and on generated graphs that are not here; the fair check is a graph that nobody here
has seen. A dash: not measured yet."""
_HEAD = "graph|MLP|best plain network|plain|" + "|".join(f"default, {w.title}" for w in DEFAULTS)
_HEAD += "|PPro, tuned|" + "|".join(f"difference, {way.title}" for way in DEFAULTS)
MISSING, DATED = "–", "‡"
OF_BEFORE = f"\n{DATED} Measured with an earlier search: other networks, or others that go on.\n"
LOST, BELOW_MLP = 1.0, 0.5
"""Points by which a difference counts as lost."""


@dataclass(frozen=True)
class Row:
    """What was reached on a graph; some of it may not be measured yet.

    Args:
        networks: how many of the plain networks are measured.
        best: of these.
        dated: ways whose measurements are of an earlier search.
    """

    arena: Arena
    networks: int
    mlp: Reached | None
    best: Reached | None
    plain: Sequence[float] | None
    defaults: Mapping[Way, Sequence[float] | None]
    tuned: Reached | None
    dated: Sequence[Way]

    @property
    def is_whole(self) -> bool:
        """Tell whether all plain networks are measured."""
        return self.networks == len(NETWORKS)

    def against(self, way: Way, other: Reached | None) -> Comparison | None:
        """Return the paired difference of the default from a network, where both are measured."""
        own = self.defaults[way]
        if own is None or other is None:
            return None
        return compare(own, other.record["test"][: len(own)])


def rows(store: Store, where: Sequence[Arena] | None = None) -> list[Row]:
    """Return the graphs of which a network or a default is measured."""
    found = (_row(arena, store) for arena in (arenas() if where is None else where))
    return [row for row in found if row is not None]


def _row(arena: Arena, store: Store) -> Row | None:
    found = {
        name: one
        for name in NETWORKS
        if (one := entrants.reached(arena, network(arena.dataset, name), store)) is not None
    }
    defaults = {way: tests_of(arena, way, store) for way in DEFAULTS}
    if not found and not any(defaults.values()):
        return None
    best, ours = entrants.best(found.values()), entrants.reached(arena, tuned(arena.dataset), store)
    plain = tests_of(arena, PLAIN, store)
    dated = [way for way in DEFAULTS if is_dated(arena, way, store)]
    return Row(arena, len(found), found.get("mlp"), best, plain, defaults, ours, dated)


def markdown(store: Store, where: Sequence[Arena] | None = None) -> str:
    """Return the table, and what it comes to."""
    found = rows(store, where)
    cells = [_cells(row) for row in found]
    told = section(TITLE, _TEXT, _HEAD, cells, "untuned")
    concluded = [line for way in DEFAULTS if (line := conclusion(found, way))]
    noted = OF_BEFORE if any(row.dated for row in found) else ""
    return told + noted + "".join(f"\n{line}\n" for line in concluded)


def _cells(row: Row) -> list[str]:
    return [
        row.arena.title,
        _reached(row.mlp),
        _best(row),
        _spread(row.plain),
        *(_spread(row.defaults[way]) + _mark(row, way) for way in DEFAULTS),
        _reached(row.tuned),
        *(with_error(row.against(way, row.best)) for way in DEFAULTS),
    ]


def _mark(row: Row, way: Way) -> str:
    """Return the mark of what an earlier search has reached."""
    return f" {DATED}" if way in row.dated and row.defaults[way] is not None else ""


def _best(row: Row) -> str:
    if row.best is None:
        return MISSING
    of = "" if row.is_whole else f", best of {row.networks}"
    return f"{_reached(row.best)} ({row.best.entrant.title}{of})"


def _reached(one: Reached | None) -> str:
    return _spread(None if one is None else one.record["test"])


def _spread(values: Sequence[float] | None) -> str:
    if values is None:
        return MISSING
    return f"{fmean(values):.1f} ± {stdev(values) if len(values) > 1 else 0.0:.1f}"


def conclusion(found: Sequence[Row], way: Way) -> str:
    """Return how often the default loses, and by how much on average; "" where nothing is known.

    Only graphs count of which all plain networks are measured.
    """
    pairs, below = list[tuple[str, float]](), list[str]()
    for row in (row for row in found if row.is_whole):
        best, mlp = row.against(way, row.best), row.against(way, row.mlp)
        if best is not None and mlp is not None:
            pairs.append((row.arena.title, best.difference))
            below += [row.arena.title] if mlp.difference < -BELOW_MLP else []
    if not pairs:
        return ""
    lost = [title for title, gain in pairs if gain < -LOST]
    mean = fmean(gain for _, gain in pairs)
    return (
        f"Against the best tuned plain network the default with {way.title} gains {mean:+.2f} "
        f"points on average; it is worse by more than {LOST:g} on {_named(lost)} of the "
        f"{len(pairs)} graphs where all networks are measured, and below an MLP by more than "
        f"{BELOW_MLP:g} on {_named(below)}."
    )


def _named(titles: Sequence[str]) -> str:
    return f"{len(titles)} ({', '.join(titles)})" if titles else "none"
