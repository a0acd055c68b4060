"""What a run folder keeps of the nodes: exactly in ``nodes.safetensors``, readable as a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.runs.problems import reading
from ppro.runs.tensors import read_tensors, tensors_file
from ppro.training.fit import NodeTable

FILE = "nodes.safetensors"
PARTS = ("train", "val", "test")


@dataclass(frozen=True, eq=False)
class NodeRecords:
    """What one run says of some nodes, beside what is known of them.

    Args:
        class_names: Length ``c``.
        ids: the user's ids, or None where a node's id is its number.
        labels: -1 where not known. Shape ``[m]``.
        splits: the parts of the nodes in every run.
        run: which run speaks.
        probabilities: None where they were not kept. Shape ``[m, c]``.
        steps: Shape ``[m]``.
        priorities: Shape ``[m]``.
        embedding: None where it was not kept. Shape ``[m, d]``.
        predicted: the classes, where they are not the most probable ones. Shape ``[m]``.
    """

    class_names: Sequence[str]
    ids: Sequence[str] | None
    labels: Tensor
    splits: Splits
    run: int
    probabilities: Tensor | None
    steps: Tensor
    priorities: Tensor
    embedding: Tensor | None = None
    predicted: Tensor | None = None

    @classmethod
    def of(
        cls,
        graph: Graph,
        splits: Splits,
        table: NodeTable,
        run: int,
        *,
        nodes: Tensor | None = None,
        embedding: Tensor | None = None,
    ) -> NodeRecords:
        """Return the records of one run.

        Args:
            table: what every run says, or the one alone.
            nodes: the nodes that the rows of the table are about; None for all. Shape ``[m]``.
        """
        ids, labels = graph.node_ids, graph.labels
        if nodes is not None:
            every = range(graph.num_nodes) if ids is None else ids
            ids = tuple(str(every[i]) for i in nodes.tolist())
            labels = labels[nodes]
            splits = Splits(splits.name, *(getattr(splits, part)[:, nodes] for part in PARTS))
        row = run if table.steps.shape[0] > 1 else 0
        told = table.probabilities[row], table.steps[row], table.priorities[row]
        return cls(graph.class_names, ids, labels, splits, run, *told, embedding)


def write_records(folder: Path, records: NodeRecords, *, brief: bool) -> None:
    """Write ``nodes.safetensors``.

    Args:
        brief: leave out probabilities and embeddings, which are large.
    """
    found = {"labels": records.labels, "steps": records.steps, "priorities": records.priorities}
    if records.ids is not None:
        text = json.dumps(list(records.ids)).encode()
        found["ids"] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
    if not brief:
        kept = {"probabilities": records.probabilities, "embedding": records.embedding}
        found |= {name: values for name, values in kept.items() if values is not None}
    found |= {f"splits.{part}": getattr(records.splits, part) for part in PARTS}
    (folder / FILE).write_bytes(tensors_file(found))


def read_records(folder: Path, class_names: Sequence[str], split: str, run: int) -> NodeRecords:
    """Read ``nodes.safetensors``.

    Raises:
        RunError: it is missing or damaged.
    """
    path = folder / FILE
    found = read_tensors(path)
    with reading(path):
        ids = json.loads(found["ids"].numpy().tobytes()) if "ids" in found else None
        splits = Splits(split, *(found[f"splits.{part}"] for part in PARTS))
        labels, steps, priorities = (found[name] for name in ("labels", "steps", "priorities"))
    large = found.get("probabilities"), found.get("embedding")
    return NodeRecords(class_names, ids, labels, splits, run, large[0], steps, priorities, large[1])
