"""The tables of a measurement: speed beside the peer, all forms of the peer, the limit."""

from collections.abc import Mapping, Sequence
from typing import Any

from ppro.files import markdown_table

Row = Mapping[str, Any]


def called(row: Row) -> str:
    """Return the strategy of a row, with its judges where controllers compare, or the model."""
    if "model" in row:
        return str(row["model"])
    judges = row.get("judges")
    return f"{row['strategy']}, judges {judges}" if judges else str(row["strategy"])


def form_of(row: Row) -> str:
    """Return the form of APPNP, or a dash for another network."""
    return str(row.get("form", "-"))


def label(row: Row) -> str:
    """Return a row in words."""
    return f"{row['graph']}, {form_of(row)}, L = {row['max_steps']}, {called(row)}"


def _what(row: Row) -> list[str]:
    return [str(row["graph"]), form_of(row), str(row["max_steps"]), called(row)]


WHAT = ["graph", "form", "L", "network"]


def speed_table(rows: Sequence[Row]) -> str:
    """Return ours beside the fastest form of the peer."""
    head = [*WHAT, "runs", "threads", "ours, ms", "PyG, ms", "ours / PyG", "PyG's fastest form"]
    cells = [
        [
            *_what(row),
            *(str(row[key]) for key in ("runs", "threads")),
            *(f"{row['ours_ms']:.2f}", f"{row['peer_ms']:.2f}", f"{row['ratio']:.3f}"),
            str(row.get("peer", "documented")),
        ]
        for row in rows
    ]
    return markdown_table(head, cells) + "\n"


def forms_table(rows: Sequence[Row]) -> str:
    """Return milliseconds of every form of the peer, or nothing where one alone was measured."""
    told = [row for row in rows if "peers_ms" in row]
    names = list(dict.fromkeys(name for row in told for name in row["peers_ms"]))
    if not names:
        return ""
    cells = [
        [*_what(row), *(_milliseconds(row["peers_ms"].get(name)) for name in names)] for row in told
    ]
    reasons = dict(item for row in told for item in row.get("skipped", {}).items())
    lines = [f"- {name}: not measured, {reason}" for name, reason in reasons.items()]
    return markdown_table([*WHAT, *names], cells) + "\n" + "".join(f"\n{one}" for one in lines)


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def limit_table(rows: Sequence[Row]) -> str:
    """Return what epochs must do at least and ours over it, or nothing where it was not counted."""
    told = [row for row in rows if "over_floor" in row]
    if not told:
        return ""
    head = [*WHAT, "runs", "MB", "Mop", "GB/s", "floor, ms", "ours / floor", "calls"]
    cells = [
        [
            *(*_what(row), str(row["runs"])),
            *(f"{row['bytes'] / 1e6:.1f}", f"{row['operations'] / 1e6:.1f}"),
            f"{row['bandwidth'] / 1e9:.1f}",
            f"{1e3 * row['bytes'] / row['bandwidth']:.2f}",
            f"{row['over_floor']:.1f}",
            str(row.get("calls", "-")),
        ]
        for row in told
    ]
    return markdown_table(head, cells) + "\n"
