"""Every comparison of PPro with its backbone behind the tables, with its p values."""

from collections.abc import Mapping

from ppro.files import markdown_table
from ppro.paper.panels import Table
from ppro.paper.render import Pair, verdicts
from ppro.paper.statistics import LEVEL, Judged
from ppro.paper.store import Store
from ppro.paper.tables import TABLES
from ppro.search.methods import find_method

TITLE = "PPro against its backbone, run by run"
_TEXT = (
    "PPro against its own backbone, or another variant of itself, run by run over the same splits "
    "and seeds: the mean difference in points of test accuracy and its standard error, p of the "
    "paired t-test as it is and after Holm's correction for all comparisons of the table, and p of "
    "Wilcoxon's signed-rank test. *Better* and *worse* stand where the corrected p is below "
    f"{LEVEL}."
)
_HEAD = "PPro|against|on|difference|standard error|t-test p|corrected p|Wilcoxon p|verdict"


def markdown(store: Store) -> str:
    """Return the comparisons of all tables that have some."""
    parts = [f"## {TITLE}", _TEXT]
    for make in TABLES.values():
        parts += _of_table(make(), store)
    return "\n\n".join(parts) + "\n"


def _of_table(table: Table, store: Store) -> list[str]:
    parts, found = [], verdicts(table, store)
    for i, panel in enumerate(table.panels):
        own = {pair: one for (at, pair), one in found.items() if at == i}
        if own:
            parts += [f"### {table.title}, {panel.title}", _rows(own)]
    return parts


def _rows(found: Mapping[Pair, Judged]) -> str:
    rows = [
        [
            find_method(ours).title,
            find_method(theirs).title,
            heading,
            f"{one.comparison.difference:+.2f}",
            f"{one.comparison.standard_error:.2f}",
            f"{one.comparison.t_test:.3f}",
            f"{one.adjusted:.3f}",
            f"{one.comparison.wilcoxon:.3f}",
            one.verdict,
        ]
        for (ours, theirs, heading), one in found.items()
    ]
    return markdown_table(_HEAD.split("|"), rows)
