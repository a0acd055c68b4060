"""The page on scale: the cost model in words and tables, beside what was measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from ppro.paper.bench.cost import (
    BANDWIDTH,
    EDGE_PASSES,
    FEATURE_PASSES,
    FLOAT,
    GHOST_MATRICES,
    GRAPHS,
    LATENCY,
    LINE,
    OWN_MATRICES,
    Rates,
    Row,
    Workload,
    epoch_seconds,
    predict,
    random_boundary,
    same_graph,
    workload,
)
from ppro.paper.bench.markdown import percent, table
from ppro.paper.bench.scale_ranks import ranks_section
from ppro.training.memory import GIB, PROGRAM, matrices, per_entry, per_node

MACHINES = (1, 8, 64)
BOUNDARIES = (0.1, 1.0)
"""Ghost rows for each own row: a good cut of a graph with communities, and a poor one."""

_INTRO = """# Scale

What a training costs as the graph grows, on one machine and on many. Written by
`ppro bench scale --page docs/scale.md` from what `ppro bench large` and `ppro bench distributed`
measured: `large.json` and, where it is there, `distributed.json` in `results/bench`. All of it is
about L2B around APPNP in class form, L = {steps}, hidden width {hidden}, one run, features on disk.

## The model

n nodes, E edges, f features, c classes, hidden width h, P machines. Â has 2 E + n entries.

**Memory** is that of the estimate which `ppro train` prints before it starts: {entry} bytes for an
entry of Â ({long} from 2³¹ entries on, whose columns need 64 bits), {node} for a node, {matrices}
matrices of n × c numbers, {program:.1f} GiB for the program itself. It does not grow with L or f.
On P machines each has 1/P of it, but for the program, and its **ghost rows** besides: rows of other
machines that are neighbours of its own, {ghost} × {size} c bytes for each (as many to send, as they
arrive, and joined with the rows they meet), 8 for its number, and at most {own} matrices of n/P × c
for the latter.

**The network.** In every product a machine receives its ghost rows, {size} c bytes each, in at
most P - 1 messages. An epoch has {passes} L products: forward, its adjoint, the pass that judges
the controllers, validation. The gradients of all parameters are added up once an epoch. How many
ghost rows there are depends on how the graph is cut, so the *boundary*, ghost rows for each row of
a machine's own, is an input: {boundaries} stand for a good and a poor cut; *random* is what dealing
out the nodes at random gives, (P - 1)(1 - (1 - 1/P)^d) at mean degree d.

**Time.** A product fetches a row of c numbers for each entry, from anywhere in memory, in lines of
{line} bytes: {fixed} + {size} c bytes on average. The layers before it take f h + h c
multiplications for each node and pass, {l2b} passes for L2B and {mlp} for the MLP; the backward
pass counts twice, as it computes each block again. The seconds for a byte and for a multiplication
are those of the machine that was measured. The network is assumed to take {bandwidth:g} GB/s into
each machine and {latency:g} µs for a message, and nothing of it is hidden behind work.
"""


def page(report: Mapping[str, Any], ranks: Mapping[str, Any] | None = None) -> str:
    """Return the whole page as Markdown.

    Args:
        report: what ``ppro bench large`` measured.
        ranks: what ``ppro bench distributed`` measured, where it did.

    Raises:
        RunError: nothing was measured that tells how fast the machine is.
    """
    trainings: Sequence[Row] = report["trainings"]
    rates, settings = Rates.measured(trainings), GRAPHS[0].settings
    intro = _INTRO.format(
        steps=settings.network.max_steps,
        hidden=settings.network.hidden,
        entry=per_entry(0, settings, 1),
        long=per_entry(2**31, settings, 1),
        node=per_node(1) + 4,
        matrices=matrices(settings),
        program=PROGRAM / GIB,
        ghost=GHOST_MATRICES,
        own=OWN_MATRICES,
        size=FLOAT,
        passes=EDGE_PASSES,
        boundaries=" and ".join(map(percent, BOUNDARIES)),
        line=LINE,
        fixed=LINE - FLOAT,
        l2b=FEATURE_PASSES["l2b"],
        mlp=FEATURE_PASSES["mlp"],
        bandwidth=BANDWIDTH / 1e9,
        latency=LATENCY * 1e6,
    )
    of_ranks = [] if ranks is None else [ranks_section(ranks)]
    return "\n".join([intro, _measured(report, rates), *of_ranks, _foretold(rates)])


def _measured(report: Mapping[str, Any], rates: Rates) -> str:
    machine, trainings = report["machine"], report["trainings"]
    versions = ", ".join(f"{key} {value}" for key, value in machine["versions"].items())
    parts = [
        "## The model against measurements",
        f"{machine['name']}, {machine['cores']} cores; {versions}. Generated graphs with "
        "heavy-tailed degrees and communities. The two rates come from the largest graph with both "
        "methods; the other rows test them. Peak memory is that of the whole process.",
        table(
            "graph edges classes method epochs|epoch, s|model, s|ns per edge|peak, GiB"
            "|estimate, GiB|test, %",
            [_measured_row(row, rates) for row in sorted(trainings, key=_order)],
        ),
    ]
    findings = [*_per_edge(trainings), *_ahead(trainings)]
    return "\n\n".join([*parts, *(["\n".join(findings)] if findings else [])]) + "\n"


def _order(row: Row) -> tuple[Any, ...]:
    return row["nodes"], row["classes"], row["epochs"], row["method"]


def _measured_row(row: Row, rates: Rates) -> list[str]:
    graph = workload(row)
    return [
        graph.name,
        f"{graph.edges:,}",
        str(graph.classes),
        row["method"],
        str(row["epochs"]),
        f"{row['epoch_s']:.2f}",
        f"{epoch_seconds(graph, rates, row['method']):.2f}",
        f"{1e9 * row['epoch_s'] / graph.edges:.0f}",
        f"{row['peak_bytes'] / GIB:.2f}",
        f"{row['estimate_bytes'] / GIB:.2f}",
        f"{row['test_accuracy']:.2f}",
    ]


def _per_edge(trainings: Sequence[Row]) -> list[str]:
    """L2B's time per edge on each graph against that on the next smaller one."""
    l2b = sorted((row for row in trainings if row["method"] == "l2b"), key=_order)
    lines = []
    for row in l2b:
        same = [r for r in l2b if r["nodes"] < row["nodes"] and r["classes"] == row["classes"]]
        if same:
            ratio = row["epoch_s"] / row["edges"] / (same[-1]["epoch_s"] / same[-1]["edges"])
            sizes = f"{row['nodes']:,} / {same[-1]['nodes']:,} nodes, {row['classes']} classes"
            lines.append(f"- time per edge of L2B, {sizes}: {ratio:.2f}")
    return lines


def _ahead(trainings: Sequence[Row]) -> list[str]:
    lines = []
    for row in sorted(trainings, key=_order):
        others = [r for r in trainings if r["method"] == "mlp" and same_graph(r, row)]
        if row["method"] == "l2b" and others:
            ahead = row["test_accuracy"] - others[0]["test_accuracy"]
            graph = f"{row['nodes']:,} nodes, {row['classes']} classes"
            lines.append(f"- L2B over the MLP, {graph}: {ahead:+.2f} points of test accuracy")
    return lines


def _foretold(rates: Rates) -> str:
    sizes = [
        [
            graph.name,
            *(f"{size:,}" for size in (graph.nodes, graph.edges, graph.features, graph.classes)),
            f"{predict(graph).gradients / 1e6:.2f}",
        ]
        for graph in GRAPHS
    ]
    rows = [
        row for graph in GRAPHS for machines in MACHINES for row in _rows(graph, machines, rates)
    ]
    parts = [
        "## What it foretells",
        table("graph nodes edges features classes|gradients, MB", sizes),
        "For each machine: memory, features on its disk, what reaches it in a step, seconds of an "
        "epoch. A machine is taken to be as fast as the one measured.",
        table(
            "graph machines boundary|memory, GiB|disk, GiB|MB a step|messages a step|work, s"
            "|network, s",
            rows,
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _rows(graph: Workload, machines: int, rates: Rates) -> list[list[str]]:
    if machines == 1:
        return [_row(graph, 1, "-", 0.0, rates)]
    cuts = [(percent(boundary), boundary) for boundary in BOUNDARIES]
    dealt = random_boundary(graph, machines)
    cuts.append((f"random, {percent(dealt)}", dealt))
    return [_row(graph, machines, name, boundary, rates) for name, boundary in cuts]


def _row(graph: Workload, machines: int, name: str, boundary: float, rates: Rates) -> list[str]:
    told = predict(graph, machines, boundary)
    return [
        graph.name,
        str(machines),
        name,
        f"{told.memory / GIB:.1f}",
        f"{told.disk / GIB:.1f}",
        f"{told.received / 1e6:,.1f}",
        str(told.messages),
        f"{epoch_seconds(graph, rates, machines=machines):,.1f}",
        f"{told.network:,.1f}",
    ]
