"""Products over ranks against the dense matrix of the whole graph, and the plan of the exchange."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from ppro.compute.noise import Noise
from ppro.compute.propagation import Adjacency
from ppro.distributed import RankGroup, owners
from ppro.distributed.adjacency import ShardAdjacency
from ppro.distributed.halo import Halo, HaloPlan
from ppro.distributed.local_rows import rows_of
from ppro.distributed.measures import ShardEdges, moments_over
from ppro.graph.core import Graph
from ppro.nn.priority import Edges, influence, moments
from tests.distributed.spawned import on_ranks
from tests.support import CPU, connected_edges, dense_normalised

NODES, RUNS, WIDTH = 60, 2, 3
WAYS = [
    {"normalisation": normalisation, "self_loops": loops}
    for normalisation in ("symmetric", "row")
    for loops in (True, False)
]


def a_graph(weighted: bool = False) -> Graph:
    edges = connected_edges(NODES, 1, extra=90)
    weight = None
    if weighted:
        key = edges.amin(0) * NODES + edges.amax(0)
        weight = 0.5 + (key % 7).to(torch.float32)
    labels = torch.arange(NODES) % 3
    return Graph("small", edges, weight, torch.eye(NODES), labels, ("a", "b", "c"))


def embeddings() -> Tensor:
    return torch.randn(RUNS, NODES, WIDTH, generator=torch.Generator().manual_seed(3))


def noise() -> Noise:
    seeds = Noise.hashed_seeds(torch.arange(RUNS))
    half = torch.full((RUNS,), 0.5)
    return Noise(seeds, half, torch.tensor(4, dtype=torch.int32), half)


def products(ranks: RankGroup, weighted: bool, partition: Any) -> list[dict[str, Any]]:
    """What a rank gets of every product, and of the priorities."""
    graph, h = a_graph(weighted), embeddings()
    plan = HaloPlan.make(graph, owners(graph, ranks, partition), ranks)
    halo, found = Halo(plan, ranks, CPU), []
    for way in WAYS:
        rows = rows_of(graph, plan.nodes, self_loops=bool(way["self_loops"]))
        shard = ShardAdjacency.build_shard(rows, halo, way["normalisation"])  # type: ignore[arg-type]
        mine = h[:, plan.nodes].contiguous()
        dropped = shard.dropped(noise())
        answer = {
            "nodes": plan.nodes,
            "product": shard.product(mine),
            "mixed": shard.mix_into(torch.empty_like(mine), mine, mine, 0.25),
            "adjoint": shard.adjoint_product(mine, 0.5),
            "dropped": dropped.product(mine),
            "dropped adjoint": dropped.adjoint_product(mine),
            "influence": influence(
                ShardEdges(shard.rows, halo, self_loops=bool(way["self_loops"])),
                ("degree", "eigenvector"),
            ),
        }
        found.append({key: value.numpy() for key, value in answer.items()})
    return found


@pytest.mark.parametrize(("size", "partition"), [(1, "metis"), (2, "contiguous"), (3, "metis")])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_over_ranks_are_those_of_the_whole_graph(
    size: int, partition: str, weighted: bool
) -> None:
    graph, h = a_graph(weighted), embeddings()
    answers = on_ranks(size, products, weighted, partition)
    for i, way in enumerate(WAYS):
        normalisation, loops = str(way["normalisation"]), bool(way["self_loops"])
        dense = dense_normalised(
            graph.edge_index,
            NODES,
            weight=graph.edge_weight,
            normalisation=normalisation,
            self_loops=loops,
        ).float()
        whole = Adjacency.build(
            graph.edge_index,
            NODES,
            edge_weight=graph.edge_weight,
            normalisation=normalisation,  # type: ignore[arg-type]
            self_loops=loops,
        ).dropped(noise())
        expected = {
            "product": dense @ h,
            "mixed": 0.75 * dense @ h + 0.25 * h,
            "adjoint": 0.5 * dense.T @ h,
            "dropped": whole.product(h),
            "dropped adjoint": whole.adjoint_product(h),
            "influence": influence(Edges(graph.edge_index, NODES), ("degree", "eigenvector")),
        }
        nodes = np.concatenate([answer[i]["nodes"] for answer in answers])
        assert sorted(nodes) == list(range(NODES))
        for key, value in expected.items():
            axis = 0 if key == "influence" else 1
            got = np.concatenate([answer[i][key] for answer in answers], axis=axis)
            wanted = value.numpy().take(nodes, axis)
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6, err_msg=key)


def plans(ranks: RankGroup) -> dict[str, Any]:
    graph = a_graph()
    owner = owners(graph, ranks)
    plan = HaloPlan.make(graph, owner, ranks)
    measure = torch.arange(NODES, dtype=torch.float32).square()
    return {
        "owner": owner,
        "nodes": plan.nodes,
        "interior": plan.interior,
        "sent": plan.nodes[plan.sent],
        "sent_counts": plan.sent_counts,
        "ghosts": plan.ghosts,
        "ghost_counts": plan.ghost_counts,
        "moments": [float(m) for m in moments_over(measure[plan.nodes], ranks, NODES)],
        "flat": [float(m) for m in moments_over(torch.ones(plan.nodes.shape), ranks, NODES)],
    }


def test_what_a_rank_sends_is_what_the_others_expect() -> None:
    found = on_ranks(3, plans)
    edges = a_graph().edge_index.numpy()
    owner = found[0]["owner"]
    expected = [float(m) for m in moments(torch.arange(NODES, dtype=torch.float32).square())]
    for rank, plan in enumerate(found):
        assert (plan["owner"] == owner).all()
        ghosts = np.split(plan["ghosts"], np.cumsum(plan["ghost_counts"])[:-1])
        cut = edges[:, (owner[edges[0]] == rank) & (owner[edges[1]] != rank)]
        boundary = set(cut[0])
        assert set(plan["nodes"][plan["interior"] :]) == boundary
        for other, theirs in enumerate(found):
            sent = np.split(theirs["sent"], np.cumsum(theirs["sent_counts"])[:-1])[rank]
            needed = np.unique(cut[1][owner[cut[1]] == other])
            assert list(ghosts[other]) == list(sent) == list(needed)
        assert plan["moments"] == pytest.approx(expected, rel=1e-6)
        assert plan["flat"] == [1, 0]
