"""What methods reach on planted depths, and where strategies send nodes of either type."""

from collections.abc import Sequence
from statistics import fmean

from ppro.files import markdown_table
from ppro.paper import entrants
from ppro.paper.entrants import Reached
from ppro.paper.planted import (
    GRAPH_SEED,
    POINTS,
    STRATEGIES,
    TEACHINGS,
    Point,
    best_fixed,
    entrants_of,
    strategy,
)
from ppro.paper.render import section
from ppro.paper.statistics import Comparison, with_error
from ppro.paper.store import Store
from ppro.search.methods import find_method

TITLE = "Planted depths"
_TEXT = f"""\
A generated graph (`ppro data describe planted`) on which depth must be personal: neighbours tell
the class of a deep node and its features hardly do; features tell that of a shallow node and its
edges go anywhere. Nothing says to a method which node is which. APPNP at fixed depths, L2B and L2U
on it with up to {entrants.STEPS} steps, taught by comparing steps and as the paper has it, and
rivals that mix steps. Every method is offered the same four settings of dropout and learning rate;
each depth has these four alone, a strategy two starts, the paper's controllers two learning rates
and a rival two shapes besides. Validation accuracy chooses, in {entrants.CHOOSING} runs on
seeds and splits of their own. The graph is that of seed {GRAPH_SEED}; every run has a split of its
own, the same for all methods."""
_ACCURACIES = (
    "Test accuracy in percent, mean over the runs; below the fixed depths also the paired "
    "difference from the best of them by validation, which is **bold**, with its standard error."
)
_STEPS = (
    "What the strategies do there: the difference from the best fixed depth, and the mean step of "
    "deep and of shallow nodes. *Aim*: what was asked for before it was measured."
)
_HEAD = "graph|strategy|best fixed|difference|verdict|deep nodes|shallow nodes|aim"


def markdown(store: Store, points: Sequence[Point] = POINTS) -> str:
    """Return what all methods reach at the points that are measured, and the steps by type."""
    measured = [point for point in points if best_fixed(point, store) is not None]
    rows = [row for point in measured for row in _steps(point, store)]
    table = section(TITLE, f"{_TEXT}\n\n{_STEPS}", _HEAD, rows, "planted")
    if not measured:
        return table
    return f"{table}\n{_ACCURACIES}\n\n{_accuracies(measured, store)}\n"


def conclusion(store: Store, points: Sequence[Point] = POINTS) -> str:
    """Return at how many points the strategies beat the best fixed depth; "" before any."""
    told = []
    for name in STRATEGIES:
        found = [
            compared
            for point in points
            if (one := entrants.reached(point.arena, strategy(point.form, name, "compare"), store))
            and (compared := one.against(best_fixed(point, store)))
        ]
        if found:
            verdicts, title = [c.verdict for c in found], find_method(name).title
            mean = fmean(c.difference for c in found)
            told.append(
                f"{title} is better than the best fixed depth in {verdicts.count('better')} and "
                f"worse in {verdicts.count('worse')} of {len(found)} cases, by {mean:+.1f} points "
                "on average"
            )
    return f"{'; '.join(told)}." if told else ""


def _accuracies(points: Sequence[Point], store: Store) -> str:
    """Return a row for each method and a column for each point."""
    titles = [one.title for one in entrants_of(points[0])]
    columns = [_column(point, store) for point in points]
    rows = [[title, *(column[i] for column in columns)] for i, title in enumerate(titles)]
    return markdown_table(["method", *(point.title for point in points)], rows)


def _column(point: Point, store: Store) -> list[str]:
    base = best_fixed(point, store)
    return [
        _place(entrants.reached(point.arena, entrant, store), base)
        for entrant in entrants_of(point)
    ]


def _place(found: Reached | None, base: Reached | None) -> str:
    if found is None:
        return "–"
    mean = f"{found.record['test_mean']:.1f}"
    if found == base:
        return f"**{mean}**"
    is_fixed = found.settings.get("strategy") == "none" and found.settings.get("model") == "ppro"
    compared = None if is_fixed else found.against(base)
    return mean if compared is None else f"{mean} ({with_error(compared, 1)})"


def _steps(point: Point, store: Store) -> list[list[str]]:
    base, rows = best_fixed(point, store), list[list[str]]()
    assert base is not None
    for teaching in TEACHINGS:
        for name in STRATEGIES:
            entrant = strategy(point.form, name, teaching)
            found = entrants.reached(point.arena, entrant, store)
            compared = None if found is None else found.against(base)
            if found is None or compared is None:
                continue
            deep, shallow = (fmean(found.record[kind]["mean_step"]) for kind in ("deep", "shallow"))
            aim = "–" if teaching == "paper" else _aim(point, compared, deep - shallow)
            fixed = f"{base.record['test_mean']:.1f} ({base.settings['max_steps']})"
            told = with_error(compared)
            steps = f"{deep:.1f}", f"{shallow:.1f}"
            rows.append([point.title, entrant.title, fixed, told, compared.verdict, *steps, aim])
    return rows


def _aim(point: Point, found: Comparison, gap: float) -> str:
    """Return what was aimed at, and whether it was met."""
    if point.aim is None:
        return "–"
    told = [f"{point.aim:+.1f}: {_met(found.difference >= point.aim)}"]
    if point.gap is not None:
        told.append(f"{point.gap:.0f} steps apart: {_met(gap >= point.gap)}")
    return ", ".join(told)


def _met(is_met: bool) -> str:
    return "met" if is_met else "missed"
