"""The nodes that a user asks for: ids on the command line, or in a file."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from ppro.errors import DataError
from ppro.graph.core import Graph


def wanted_nodes(graph: Graph, text: str) -> Tensor:
    """The numbers of the nodes that a text names, each once, in its order. Shape ``[m]``.

    Args:
        text: ids with commas between, or a file with one id in a line.

    Raises:
        DataError: the file cannot be read, names no node, or an id is of no node.
    """
    ids = list(dict.fromkeys(_ids(text)))
    if not ids:
        raise DataError(f"--only {text}: names no node; give ids, or a file with one id in a line")
    numbers = _numbers(graph, ids)
    unknown = [name for name in ids if name not in numbers]
    if unknown:
        raise DataError(
            f"--only {text}: {len(unknown):,} of {len(ids):,} ids are of no node of {graph.name}, "
            f"the first {unknown[0]!r}; {_known(graph)}"
        )
    return torch.tensor([numbers[name] for name in ids])


def _ids(text: str) -> list[str]:
    path = Path(text)
    if not path.is_file():
        return [word for part in text.split(",") if (word := part.strip())]
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--only {text}: cannot be read as text ({error})") from None
    return [word for line in lines if (word := line.strip())]


def _numbers(graph: Graph, ids: list[str]) -> dict[str, int]:
    """The number of each id that there is."""
    if graph.node_ids is None:
        found = {name: int(name) for name in ids if name.isascii() and name.isdigit()}
        return {name: number for name, number in found.items() if number < graph.num_nodes}
    wanted = set(ids)
    return {name: number for number, name in enumerate(graph.node_ids) if name in wanted}


def _known(graph: Graph) -> str:
    if graph.node_ids is None:
        return f"give numbers from 0 to {graph.num_nodes - 1}"
    return f"give ids of the table of nodes, such as {graph.node_ids[0]!r}"
