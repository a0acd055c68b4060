"""Apply a saved run to a graph: what ``ppro predict`` writes and prints."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.graph.core import UNLABELLED, Graph
from ppro.parts import METRICS
from ppro.runs.nodes import NodeRecords
from ppro.runs.receptive import describe_some
from ppro.runs.saved_run import SavedRun
from ppro.settings.settings import Settings
from ppro.training.assembly import prepare_inputs
from ppro.training.fit import NodeTable, describe_nodes, measured
from ppro.training.threads import use_threads, worth_cores


@dataclass(frozen=True, eq=False)
class Prediction:
    """What one run says of all or some nodes of a graph.

    Args:
        propagated: how many nodes were propagated for it.
        settings: of the run.
        table: what ``records`` say, as the table of a single run.
    """

    records: NodeRecords
    propagated: int
    settings: Settings
    table: NodeTable

    def quality(self) -> str:
        """Return how good it is, in words: on the test nodes, or on all with a label."""
        records = self.records
        test, known = records.splits.test[records.run], records.labels != UNLABELLED
        if bool(records.splits.train.any()):
            return (
                f"test {self._measured(test)}" if bool(test.any()) else "none of them for testing"
            )
        if not bool(known.any()):
            return "none with a label to compare with"
        return f"{self._measured(known)} on the {int(known.sum()):,} with a label"

    def _measured(self, mask: Tensor) -> str:
        labels = self.records.labels
        hits, score = measured(self.table, labels, mask.unsqueeze(0), self.settings)
        metric = METRICS.get(self.settings.training.metric)
        other = "" if metric.is_accuracy else f", {metric.title} {metric.shown(float(score[0]))}"
        return f"accuracy {float(hits[0]):.2f} %{other}"


def predict_nodes(
    saved: SavedRun,
    graph: Graph,
    splits: Splits,
    *,
    run: int,
    nodes: Tensor | None = None,
    device: torch.device,
    threads: int | None = None,
) -> Prediction:
    """Return what one run says of a graph.

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
    table = NodeTable(*(part[run : run + 1] for part in vars(table).values()))
    records = NodeRecords.of(graph, splits, table, run, nodes=nodes)
    return Prediction(records, propagated, settings, table)
