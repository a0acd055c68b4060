"""What a user must know of a result: that guessing does as well, or that accuracy says little."""

from collections.abc import Mapping
from typing import Any

FEW = 0.1
"""Of two classes the rarer one has few nodes where it has less than this share."""


def verdicts(facts: Mapping[str, Any]) -> list[str]:
    """Return sentences about the result of a training, from its ``result.json``.

    Results of older versions have none.
    """
    return [line for line in (_majority(facts), _rare(facts)) if line]


def is_rare(facts: Mapping[str, Any]) -> bool:
    """Tell whether the result is of two classes, one of which has few nodes."""
    rows = facts.get("classes") or []
    nodes = sum(row["nodes"] for row in rows)
    return len(rows) == 2 and 0 < min(row["nodes"] for row in rows) < FEW * nodes


def _majority(facts: Mapping[str, Any]) -> str:
    found = facts.get("majority")
    if not found or found["beaten"]:
        return ""
    where = "test" if facts["told_of"] == "test" else "validation"
    share, reached = found["share"], found["share"] + found["gain"]
    return (
        f"accuracy is no better than the majority class: {100 * reached:.2f} %, and "
        f"{100 * share:.2f} % of the {where} nodes are '{found['name']}' (standard error "
        f"{100 * found['standard_error']:.2f})"
    )


def _rare(facts: Mapping[str, Any]) -> str:
    if not is_rare(facts):
        return ""
    row = min(facts["classes"], key=lambda one: one["nodes"])
    nodes = sum(one["nodes"] for one in facts["classes"])
    share, found = row["nodes"] / nodes, round(row["recall"] * row["nodes"])
    return (
        f"only {100 * share:.1f} % of the nodes are '{row['name']}', of which {found:,} of "
        f"{row['nodes']:,} are found: accuracy says little here, average precision and ROC AUC more"
    )
