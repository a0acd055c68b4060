"""What all ranks say of their nodes, brought together on rank 0."""

import torch
from torch import Tensor

from ppro.distributed.group import RankGroup
from ppro.distributed.shard import Shard
from ppro.nn.network import Network, Outcome
from ppro.training.fit import NodeTable
from ppro.training.metrics import Metric


@torch.no_grad()
def described(model: Network, shard: Shard, runs: int) -> NodeTable:
    """Class probabilities, step and priority of every node of this rank, without dropout."""
    outcome: Outcome = model(shard.inputs, shard.all_rows(runs))
    return NodeTable.of(outcome)


def accuracy_over(nodes: NodeTable, shard: Shard, masks: Tensor, ranks: RankGroup) -> Tensor:
    """Accuracy in percent of each run on its own nodes of all ranks; NaN where it has none."""
    hits = (nodes.probabilities.argmax(-1) == shard.labels) & masks
    counts = ranks.sum(torch.stack([hits.sum(1), masks.sum(1)]))
    return 100 * counts[0] / counts[1]


def score_over(
    nodes: NodeTable, shard: Shard, masks: Tensor, ranks: RankGroup, metric: Metric
) -> Tensor:
    """Return the metric of each run over its own nodes of all ranks. Shape ``[R]``."""
    rows = shard.rows(masks)
    runs = torch.arange(masks.shape[0]).unsqueeze(1)
    seen = nodes.probabilities[runs, rows.nodes.cpu()], rows.labels.cpu(), rows.valid.cpu()
    return metric.of_runs(*(ranks.gather(part.to(shard.device)) for part in seen))


def gathered(nodes: NodeTable, shard: Shard, ranks: RankGroup) -> NodeTable | None:
    """Return the table of all nodes, in their order, on rank 0; None on the others."""
    tables = (nodes.probabilities, nodes.steps, nodes.priorities)
    sizes = torch.zeros(ranks.size, dtype=torch.int64)
    sizes[ranks.rank] = shard.labels.shape[0]
    sizes = ranks.sum(sizes)
    if ranks.rank:
        for part in (shard.plan.nodes, *tables):
            ranks.send_to_first(part)
        return None
    whole = [t.new_empty(t.shape[0], shard.plan.num_nodes, *t.shape[2:]) for t in tables]
    for out, table in zip(whole, tables, strict=True):
        out[:, shard.plan.nodes] = table
    for rank in range(1, ranks.size):
        count = int(sizes[rank])
        numbers = ranks.receive(torch.empty(count, dtype=torch.int64), rank)
        for out in whole:
            part = out.new_empty(out.shape[0], count, *out.shape[2:])
            out[:, numbers] = ranks.receive(part, rank)
    return NodeTable(*whole)
