"""The part of the page on scale that tells of several ranks, measured on one machine."""

from collections.abc import Mapping
from typing import Any

from ppro.paper.bench.markdown import percent, table

_INTRO = """## Several ranks against one process

Measured by `ppro bench distributed`: as many processes on one machine, each with part of the nodes.
The bytes of a product are those that all ranks together send in it; the model is given the boundary
that the cut came to. Memory is what the rank that holds most needs beyond the program."""


def ranks_section(report: Mapping[str, Any]) -> str:
    """Bytes of a product beside the model's, memory, and how far the ranks are from one process."""
    rows = [_row(row) for row in report["trainings"]]
    head = (
        "graph nodes strategy form ranks boundary|bytes a product|model, bytes|memory, MiB"
        "|losses apart|same steps|same predictions"
    )
    return f"{_INTRO}\n\n{table(head, rows)}\n"


def _row(row: Mapping[str, Any]) -> list[str]:
    settings = row["settings"]
    cells = [
        row["graph"],
        f"{row['nodes']:,}",
        settings["strategy"],
        settings["form"],
        str(row["ranks"]),
    ]
    memory = f"{row['most_memory_mib']:.0f}"
    if row["ranks"] == 1:
        return [*cells, "-", "-", "-", memory, "-", "-", "-"]
    return [
        *cells,
        percent(row["boundary"]),
        f"{row['product_bytes']:,.0f}",
        f"{row['model_bytes']:,.0f}",
        memory,
        f"{row['largest_loss_difference']:.1e}",
        f"{100 * row['same_steps']:.2f} %",
        f"{100 * row['same_predictions']:.2f} %",
    ]
