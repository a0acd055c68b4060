"""From a name to a graph and the masks of its runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ppro.compute.precision import as_by_default
from ppro.data.catalog import DATASETS, dataset_info
from ppro.data.content import check_graph
from ppro.data.drawn import drawn_splits
from ppro.data.fetch import obtain
from ppro.data.names import SPLITS, is_drawn, split_names
from ppro.data.noise import with_options
from ppro.data.options import checked_options, own_and_any
from ppro.data.readers.csr import read_csr_npz
from ppro.data.readers.geom_gcn import read_geom_gcn, read_split_files
from ppro.data.readers.graph_data import read_graph_data
from ppro.data.readers.npz import (
    read_deduplicated,
    read_deduplicated_masks,
    read_npz,
    read_npz_masks,
)
from ppro.data.readers.ogb import read_ogb, read_ogb_masks
from ppro.data.readers.planetoid import (
    read_linqs_cora,
    read_linqs_masks,
    read_planetoid,
    read_public_masks,
)
from ppro.data.readers.raw import Masks, RawGraph
from ppro.data.readers.wiki_cs import read_wiki_cs, read_wiki_cs_masks
from ppro.data.records import DatasetInfo
from ppro.data.splits import Splits, fixed_splits
from ppro.errors import DataError
from ppro.graph.core import Graph
from ppro.parts import nearest

Paths = Mapping[str, Path]
ACTOR_FEATURES = 932


@dataclass(frozen=True)
class Format:
    """How to read the graph and the fixed splits of one file format."""

    graph: Callable[[Paths], RawGraph]
    masks: Callable[[Paths], Masks]


def _geom_gcn(paths: Paths) -> RawGraph:
    return read_geom_gcn(paths["edges"], paths["nodes"])


def _geom_gcn_indexed(paths: Paths) -> RawGraph:
    return read_geom_gcn(paths["edges"], paths["nodes"], indexed_features=ACTOR_FEATURES)


def _split_files(paths: Paths) -> Masks:
    return read_split_files(list(paths.values()))


def _no_masks(paths: Paths) -> Masks:
    raise DataError("this format holds no splits; use one that is drawn")


FORMATS = {
    "planetoid": Format(read_planetoid, read_public_masks),
    "linqs-cora": Format(read_linqs_cora, read_linqs_masks),
    "geom-gcn": Format(_geom_gcn, _split_files),
    "geom-gcn-indexed": Format(_geom_gcn_indexed, _split_files),
    "npz": Format(lambda paths: read_npz(paths["npz"]), lambda paths: read_npz_masks(paths["npz"])),
    "npz-deduplicated": Format(
        lambda paths: read_deduplicated(paths["npz"]),
        lambda paths: read_deduplicated_masks(paths["npz"]),
    ),
    "csr": Format(lambda paths: read_csr_npz(paths["npz"]), _no_masks),
    "graph-data": Format(lambda paths: read_graph_data(paths["npz"]), _no_masks),
    "wiki-cs": Format(
        lambda paths: read_wiki_cs(paths["json"]), lambda paths: read_wiki_cs_masks(paths["json"])
    ),
    "ogb": Format(lambda paths: read_ogb(paths["zip"]), lambda paths: read_ogb_masks(paths["zip"])),
}


@as_by_default()
def load_graph(
    name: str,
    *,
    data_root: Path | None = None,
    offline: bool = False,
    seed: int = 0,
    options: Mapping[str, float | str] | None = None,
) -> Graph:
    """Load a graph of the catalogue.

    Args:
        name: a key of ``DATASETS``.
        data_root: the folder with raw files; None reads ``PPRO_DATA``, which may be unset.
        offline: use what is on disk and leave the network alone.
        seed: of a generated graph, and of noise.
        options: of a generated graph, ``DATASETS[name].options`` lists them; and ``noise`` of any
            graph: the share of its nodes that get random edges (:func:`ppro.data.with_noise`).

    Raises:
        DataError: the name or an option is unknown, or the raw files are missing or broken.
    """
    info = dataset_info(name)
    own, of_any = own_and_any(info, checked_options(name, options or {}, info))
    if info.generator is not None:
        return with_options(info.generator.make(info, seed, own), of_any, seed)
    files = obtain(info, lambda file_set: file_set.files, data_root=data_root, offline=offline)
    raw = FORMATS[files.format].graph(files.paths)
    names = info.class_names
    graph = Graph.build(name, raw.edges, raw.features, raw.labels, class_names=names)
    if not files.checked:
        check_graph(info, graph, next(iter(files.paths.values())))
    return with_options(graph, of_any, seed)


def make_splits(
    graph: Graph,
    name: str,
    split: str,
    runs: int,
    seed: int,
    *,
    data_root: Path | None = None,
    offline: bool = False,
) -> Splits:
    """Return the masks of every run.

    Args:
        graph: the graph to split.
        name: its dataset; only the fixed splits look it up, so any graph can be split at random.
        split: ``public`` (the same in every run), ``random-60-20-20`` (run r is drawn with
            ``seed + r``), ``N-per-class`` (N training nodes of each class, drawn likewise) or
            ``geom-gcn-48-32-20`` (run r takes split file r modulo 10).
        runs: how many.
        seed: of the first run.
        data_root: as in :func:`load_graph`.
        offline: as in :func:`load_graph`.

    Raises:
        DataError: the split is unknown or the dataset does not have it.
    """
    known = {*SPLITS, *(DATASETS[name].splits if name in DATASETS else ())}
    if split not in known and not is_drawn(split):
        raise DataError(f"unknown split {split!r}; {nearest(split, tuple(known))}")
    if runs < 1 or seed < 0:
        raise DataError(f"runs is {runs} and seed is {seed}; give at least one run and a seed >= 0")
    if is_drawn(split):
        return drawn_splits(graph.labels, split, runs, seed)
    info = dataset_info(name)
    if split not in info.splits:
        raise DataError(f"{info.name} has no split {split}; it has {split_names(info.splits)}")
    masks = _fixed_masks(info, graph, split, data_root, offline)
    return fixed_splits(masks, graph.labels, split, runs)


def _fixed_masks(
    info: DatasetInfo, graph: Graph, split: str, data_root: Path | None, offline: bool
) -> Masks:
    if info.generator is not None:
        if info.generator.masks is None:
            raise DataError(f"{info.name}: its generator makes no masks for the split {split}")
        return info.generator.masks(graph, split)
    part = obtain(info, lambda file_set: file_set.split_files, data_root=data_root, offline=offline)
    return FORMATS[part.format].masks(part.paths)
