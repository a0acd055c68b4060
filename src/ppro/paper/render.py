"""Tables as Markdown and LaTeX, from result files and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppro.data.names import PUBLIC
from ppro.files import markdown_table
from ppro.paper.cells import offered
from ppro.paper.panels import Column, Panel, PaperNumber, Table
from ppro.paper.statistics import (
    LEVEL,
    TOO_FEW,
    Comparison,
    Judged,
    compare,
    judged,
    mean_and_spread,
    standard_error,
)
from ppro.paper.store import Store
from ppro.search.methods import find_method
from ppro.settings.limits import SEARCH_SEED, SEEDS_OF_FIXED, SEEDS_OF_RANDOM

LEGEND = (
    "Test accuracy in percent, mean ± standard deviation over the runs; in brackets the paper's "
    "number and our difference from it, marked * where it exceeds two standard errors of our mean. "
    "**Bold**: the best mean of a column. Under a table, *better* and *worse* stand where the "
    f"paired t-test says so at a level of {LEVEL} after Holm's correction for all comparisons of "
    "that table; `ppro reproduce comparisons` lists every difference with its p."
)


def section(title: str, text: str, head: str, rows: Sequence[Sequence[str]], name: str) -> str:
    """Return a table under its title, or that it is not measured yet.

    Args:
        text: what a reader must know.
        head: the names of the columns, with bars between.
        name: what the command calls it.
    """
    if not rows:
        return f"## {title}\n\nNot measured yet: run `ppro reproduce {name}`.\n"
    return f"## {title}\n\n{text}\n\n{markdown_table(head.split('|'), rows)}\n"


@dataclass(frozen=True)
class TableEntry:
    """What stands in a cell: our result, the paper's number, or neither."""

    result: Mapping[str, Any] | None
    paper: PaperNumber | None
    best: bool = False

    @property
    def difference(self) -> str:
        """Return ours less the paper's, with a mark where it is more than noise."""
        if self.result is None or self.paper is None:
            return ""
        difference = self.result["test_mean"] - self.paper.mean
        notable = abs(difference) > 2 * standard_error(self.result["test"])
        return f"{difference:+.1f}{'*' if notable else ''}"


def entries(panel: Panel, store: Store) -> dict[tuple[str, str], TableEntry]:
    """Return every place of a panel by method and heading."""
    found: dict[tuple[str, str], TableEntry] = {}
    for column in panel.columns:
        results = {row: _result(panel, row, column, store) for row in panel.rows}
        means = [r["test_mean"] for r in results.values() if r is not None]
        top = max(means, default=None)
        for row, result in results.items():
            paper = panel.paper.get((row, column.heading))
            best = result is not None and result["test_mean"] == top
            found[row, column.heading] = TableEntry(result, paper, best)
    return found


def _result(panel: Panel, row: str, column: Column, store: Store) -> Mapping[str, Any] | None:
    cell = panel.cell(row, column)
    if cell is None:
        return None
    return store.one(cell.place)


Pair = tuple[str, str, str]
"""PPro, its own backbone, and the heading of the column where they meet."""


def comparisons(panel: Panel, store: Store) -> dict[Pair, Comparison]:
    """Return PPro against its own backbone, run by run, wherever both have the same runs."""
    found = {}
    for ours, theirs in panel.pairs:
        for column in panel.columns:
            pair = [_result(panel, row, column, store) for row in (ours, theirs)]
            if pair[0] is None or pair[1] is None or pair[0]["runs"] != pair[1]["runs"]:
                continue
            found[ours, theirs, column.heading] = compare(pair[0]["test"], pair[1]["test"])
    return found


def verdicts(table: Table, store: Store) -> dict[tuple[int, Pair], Judged]:
    """Return all comparisons of a table, by panel, corrected for their number."""
    found = {
        (i, pair): comparison
        for i, panel in enumerate(table.panels)
        for pair, comparison in comparisons(panel, store).items()
    }
    return judged(found)


def markdown(table: Table, store: Store, level: int = 2) -> str:
    """Return the table with its statistics."""
    parts, found = [f"{'#' * level} {table.title}\n"], verdicts(table, store)
    parts += [f"{table.note}\n"] if table.note else []
    for i, panel in enumerate(table.panels):
        own = {pair: one for (at, pair), one in found.items() if at == i}
        shown = [
            f"{'#' * (level + 1)} {panel.title}",
            _grid(panel, store),
            _study(panel, store) if panel.studied else "",
            _budget(panel, store),
            _told(own, len(found)),
        ]
        parts += [f"{part}\n" for part in shown if part]
    return "\n".join(parts).rstrip() + "\n"


def _grid(panel: Panel, store: Store) -> str:
    found = entries(panel, store)
    grid = _by_method(panel, lambda row, heading: _place(found[row, heading]), "method")
    methods = [find_method(row) for row in panel.rows]
    notes = [f"{method.title}: {method.note}." for method in methods if method.note]
    return grid + ("\n\n" + " ".join(notes) if notes else "")


def _by_method(panel: Panel, place: Callable[[str, str], str], corner: str) -> str:
    """Return a table with a row for each method and a column for each heading."""
    headings = [column.heading for column in panel.columns]
    rows = [
        [find_method(row).title, *(place(row, heading) for heading in headings)]
        for row in panel.rows
    ]
    return markdown_table([corner, *headings], rows)


def _place(entry: TableEntry) -> str:
    paper = "" if entry.paper is None else f" ({entry.paper.mean:.1f}"
    if entry.result is None:
        return "–" if entry.paper is None else f"missing{paper})"
    ours = mean_and_spread(entry.result)
    ours = f"**{ours}**" if entry.best else ours
    return ours + (f"{paper}, {entry.difference})" if paper else "")


def _study(panel: Panel, store: Store) -> str:
    """Return the validation accuracy, and how many nodes stop at neither common step."""
    found = entries(panel, store)

    def place(row: str, heading: str) -> str:
        result = found[row, heading].result
        return "–" if result is None else f"{result['val_mean']:.1f}; {_between(result)}"

    return _by_method(panel, place, "validation; nodes at other steps than the two most common")


def _between(result: Mapping[str, Any]) -> str:
    """Return the share of the nodes that stop at none of the two steps where most nodes stop."""
    if "step_shares" not in result:
        return "not recorded"
    return f"{100 * sum(sorted(result['step_shares'])[:-2]):.0f} %"


def _budget(panel: Panel, store: Store) -> str:
    """Return how many runs and configurations stand behind the numbers, on which seeds."""
    results = [e.result for e in entries(panel, store).values() if e.result is not None]
    if not results:
        return "Not recorded yet."
    runs, first, tried = (
        {int(r.get(key, 0)) for r in results} for key in ("runs", "first_seed", "configurations")
    )
    seeds = {SEEDS_OF_FIXED if c.split == PUBLIC else SEEDS_OF_RANDOM for c in panel.columns}
    told = (
        f"Runs: {_range(runs)}, seeds from {_range(first)} on. Configurations tried by each "
        f"search: {_range(tried)}, each with {_range(seeds)} runs on seeds from {SEARCH_SEED} on."
    )
    return f"{told} Drawn from: {_spaces(panel, store)}." if max(tried) else told


def _spaces(panel: Panel, store: Store) -> str:
    """Return how many configurations each method had to draw from, for each kind of graph."""
    found = []
    for row in panel.rows:
        sizes = {
            int(result.get("offered") or offered(cell)): None
            for column in panel.columns
            if (cell := panel.cell(row, column)) is not None
            and (result := store.one(cell.place)) is not None
        }
        if sizes:
            told = " or ".join(f"{size:,}" for size in sizes)
            found.append(f"{find_method(row).title} {told}")
    return "; ".join(found)


def _range(numbers: set[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def _told(found: Mapping[Pair, Judged], number: int) -> str:
    """Return where PPro is better and worse; every difference with its p has a page of its own."""
    rows = []
    for pair in dict.fromkeys((ours, theirs) for ours, theirs, _ in found):
        places = {verdict: list[str]() for verdict in ("better", "worse", "tie", TOO_FEW)}
        for (*who, heading), one in found.items():
            if tuple(who) == pair:
                told = f"{heading} {one.comparison.difference:+.2f}"
                places[one.verdict].append(told)
        better, worse, ties, few = places.values()
        other = f"{len(ties)}{f', {TOO_FEW} on {len(few)}' if few else ''}"
        titles = [find_method(name).title for name in pair]
        rows.append([*titles, ", ".join(better) or "–", ", ".join(worse) or "–", other])
    if not rows:
        return ""
    table = markdown_table(["PPro", "against", "better on", "worse on", "ties"], rows)
    corrected = f", corrected for the {number} comparisons of this table" if number > 1 else ""
    return f"Paired over the same splits and seeds{corrected}:\n\n{table}"


def latex(table: Table, store: Store) -> str:
    """Return the table for a paper; it needs the package booktabs."""
    parts = []
    for panel in table.panels:
        found = entries(panel, store)
        headings = [column.heading for column in panel.columns]
        lines = [
            "\\begin{tabular}{l" + "c" * len(headings) + "}",
            "\\toprule",
            " & ".join(["Method", *map(_escaped, headings)]) + " \\\\",
            "\\midrule",
        ]
        for row in panel.rows:
            places = [_tex_place(found[row, heading]) for heading in headings]
            lines.append(" & ".join([_escaped(find_method(row).title), *places]) + " \\\\")
        lines += ["\\bottomrule", "\\end{tabular}"]
        parts.append(f"% {table.title}; {panel.title}\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _tex_place(entry: TableEntry) -> str:
    if entry.result is None:
        return "--"
    ours = f"{entry.result['test_mean']:.1f} \\pm {entry.result['test_std']:.1f}"
    ours = f"$\\mathbf{{{ours}}}$" if entry.best else f"${ours}$"
    if entry.paper is None:
        return ours
    return f"{ours} ({entry.paper.mean:.1f}, ${entry.difference.replace('*', '^*')}$)"


def _escaped(text: str) -> str:
    return text.replace("_", "\\_").replace("%", "\\%").replace("*", "$^*$")
