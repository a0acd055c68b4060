"""The table of personal steps against fixed depths, and what it comes to."""

from collections.abc import Sequence
from statistics import fmean

from ppro.paper import entrants
from ppro.paper.entrants import (
    CHOOSING,
    CHOOSING_LARGE,
    CHOOSING_SMALL,
    DEPTHS,
    STARTS,
    STEPS,
    Arena,
)
from ppro.paper.kept import off_common
from ppro.paper.personal import FEW, MANY, NOISE, Duel, arenas, duel, noisy_arenas
from ppro.paper.render import section
from ppro.paper.statistics import mean_and_spread, with_error
from ppro.paper.store import Store

TITLE = "Personal steps against the best fixed depth"
_DEPTHS = ", ".join(map(str, DEPTHS))
_TEXT = f"""\
The paper's eight graphs and six others, none of them built to need personal steps. L2B and L2U,
taught by comparing steps, have {STEPS} steps at most, and nothing tunes that number. What they must
not lose to is the backbone at a fixed depth of {_DEPTHS}. Depths and strategies are offered the
same four settings of one backbone, a strategy its four starts besides: {4 * len(DEPTHS)}
candidates for the fixed depth and {4 * len(STARTS)} for each strategy. *Together* is the start that
keeps all nodes at the common depth, so that priorities alone are personal. Validation accuracy
chooses among them, depth and strategy included, on seeds of their own: {CHOOSING} runs each,
{CHOOSING_SMALL} on graphs with fewer than {FEW:,} nodes, {CHOOSING_LARGE} with noise and on random
splits of more than {MANY:,} nodes. Test accuracy in percent, mean ± standard deviation, on fresh
seeds; differences are paired over seeds and splits, with their standard errors. *Off the common
step*: the share of the nodes that are not at the most common step of their run. With noise, half of
the nodes have random edges (`--option noise={NOISE}`)."""
_HEAD = (
    "graph|runs|best fixed depth|chosen|test|difference|verdict|off the common step|L2B alone|"
    "L2U alone"
)


def markdown(
    store: Store, plain: Sequence[Arena] | None = None, noisy: Sequence[Arena] | None = None
) -> str:
    """Return the table of the graphs that are measured, and what follows from it."""
    found = _duels(arenas() if plain is None else plain, store)
    with_noise = _duels(noisy_arenas() if noisy is None else noisy, store)
    rows = [_row(one) for one in (*found, *with_noise)]
    told = section(TITLE, _TEXT, _HEAD, rows, "personal")
    return f"{told}\nThe chosen strategy is {conclusion(found)}\n" if found else told


def _duels(where: Sequence[Arena], store: Store) -> list[Duel]:
    return [one for arena in where if (one := duel(arena, store)) is not None]


def _row(one: Duel) -> list[str]:
    fixed, better = one.fixed, one.better
    compared = better.against(fixed)
    verdict = "–" if compared is None else compared.verdict
    start, off = entrants.start_of(better.settings), off_common(better.record)
    return [
        one.arena.title,
        str(better.record["runs"]),
        f"{mean_and_spread(fixed.record)} ({fixed.settings['max_steps']})",
        f"{better.entrant.title}, {start}",
        mean_and_spread(better.record),
        with_error(compared),
        verdict,
        "–" if off is None else f"{100 * off:.0f} %",
        *(with_error(found.against(fixed)) for found in one.both.values()),
    ]


def in_short(store: Store) -> str:
    """Return the count for a summary; "" before anything is measured."""
    found = _duels(arenas(), store)
    return f"The strategy that validation chose is {conclusion(found)}" if found else ""


def conclusion(found: Sequence[Duel]) -> str:
    """Return how often the chosen strategy is better or worse, and by how much on average."""
    pairs = [(one.arena.title, c) for one in found if (c := one.better.against(one.fixed))]
    if not pairs:
        return "not paired with it yet."
    verdicts = [c.verdict for _, c in pairs]
    lower = [title for title, c in pairs if c.difference < -c.standard_error]
    names = f": {', '.join(lower)}" if lower else ""
    mean = fmean(c.difference for _, c in pairs)
    return (
        f"better beyond two standard errors on {verdicts.count('better')}, worse on "
        f"{verdicts.count('worse')} and a tie on {verdicts.count('tie')} of {len(pairs)} graphs "
        f"without noise; worse beyond one standard error on {len(lower)}{names}; mean difference "
        f"{mean:+.2f}."
    )
