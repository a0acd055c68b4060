"""Apply a saved run to a graph: what ``ppro predict`` writes and prints."""

from __future__ import annotations

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.graph.core import UNLABELLED, Graph
from ppro.runs.nodes import NodeRecords
from ppro.runs.receptive import describe_some
from ppro.runs.saved_run import SavedRun
from ppro.training.assembly import prepare_inputs
from ppro.training.fit import describe_nodes
from ppro.training.metrics import shown_metrics
from ppro.training.threads import use_threads, worth_cores


def predict_nodes(
    saved: SavedRun,
    graph: Graph,
    splits: Splits,
    *,
    run: int,
    nodes: Tensor | None = None,
    device: torch.device,
    threads: int | None = None,
) -> tuple[NodeRecords, int]:
    """Return what one run says of a graph, and how many nodes were propagated for it.

    Args:
        nodes: the nodes to predict; all when None. Shape ``[m]``.
        threads: CPU cores to use; chosen from the work when None.

    Raises:
        RunError: the folder is damaged, or the graph has another number of features.
    """
    saved.check_graph(graph)
    settings, runs = saved.settings[run], saved.config.runs
    # As in training, where all runs pass together: other threads or fewer runs may add in another
    # order, and the table would differ from that of the training in its last digits.
    use_threads(threads or worth_cores(graph, settings, runs))
    model, inputs = saved.model(device), prepare_inputs(graph, settings, device, runs)
    if nodes is None:
        table, propagated = describe_nodes(model, inputs, graph, runs), graph.num_nodes
    else:
        table, propagated = describe_some(model, inputs, nodes)
    return NodeRecords.of(graph, splits, table, run, nodes=nodes), propagated


def quality(records: NodeRecords, metric: str) -> str:
    """Return how good predictions are, in words: on the test nodes, or on all with a label."""
    known = records.labels != UNLABELLED
    trained = bool(records.splits.train.any())
    mask = records.splits.test[records.run] if trained else known
    if not bool(mask.any()):
        return "none of them for testing" if trained else "none with a label to compare with"
    assert records.probabilities is not None
    chances, labels = records.probabilities[mask].double().numpy(), records.labels[mask].numpy()
    told = ", ".join(
        f"{shown.title} {shown.shown(shown().measure(chances, labels))}"
        for shown in shown_metrics(metric)
    )
    return f"test {told}" if trained else f"{told} on the {int(known.sum()):,} with a label"
