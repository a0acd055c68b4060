"""Apply a saved run to a graph: what ``ppro predict`` writes and prints."""

from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.graph.core import UNLABELLED, Graph
from ppro.runs.nodes import NodeRecords
from ppro.runs.receptive import describe_some
from ppro.runs.saved_run import SavedRun
from ppro.training.assembly import prepare_inputs
from ppro.training.assessment import MOST_CLASSES, class_rows, counts_of, scores_of
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
    mask, trained = _compared(records)
    if not bool(mask.any()):
        return "none of them for testing" if trained else "none with a label to compare with"
    scores = _scores(records, mask, metric)
    told = ", ".join(f"{one.title} {one.shown(scores[one.name])}" for one in shown_metrics(metric))
    return f"test {told}" if trained else f"{told} on the {int(mask.sum()):,} with a label"


def assessed(records: NodeRecords, metric: str) -> dict[str, Any]:
    """Return every metric, the classes and the confusion matrix, named as in ``result.json``.

    Empty where there is no label to compare with.
    """
    mask, trained = _compared(records)
    if not bool(mask.any()):
        return {}
    assert records.probabilities is not None
    names, predicted = records.class_names, _predicted(records)[mask]
    counts = counts_of(predicted, records.labels[mask], len(names))
    part = "test" if trained else "labelled"
    scores = _scores(records, mask, metric)
    return {
        "metric": metric,
        "metrics": {part: {name: {"mean": value} for name, value in scores.items()}},
        "told_of": part,
        "classes": [asdict(row) for row in class_rows(counts, names)],
        "confusion": counts.long().tolist() if len(names) <= MOST_CLASSES else None,
    }


def _compared(records: NodeRecords) -> tuple[Tensor, bool]:
    """Return the nodes that predictions are compared on, and whether they are test nodes."""
    known, trained = records.labels != UNLABELLED, bool(records.splits.train.any())
    return (records.splits.test[records.run] & known if trained else known), trained


def _predicted(records: NodeRecords) -> Tensor:
    assert records.probabilities is not None
    return records.probabilities.argmax(-1) if records.predicted is None else records.predicted


def _scores(records: NodeRecords, mask: Tensor, metric: str) -> dict[str, float]:
    assert records.probabilities is not None
    told = records.probabilities[mask], records.labels[mask]
    return scores_of(*told, metric, _predicted(records)[mask])
