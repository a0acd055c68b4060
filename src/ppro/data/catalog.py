"""The catalogue: sources, licence, statistics, known defects and splits of every dataset."""

from __future__ import annotations

from ppro.data.file_sets import (
    CORA_CLASSES,
    geom_gcn_files,
    linqs_cora_files,
    npz_file,
    planetoid_files,
)
from ppro.data.generated.csbm import CSBM
from ppro.data.generated.digits import DIGITS
from ppro.data.names import GEOM_GCN, PUBLIC, RANDOM
from ppro.data.records import DatasetInfo, Statistics
from ppro.errors import DataError
from ppro.parts import nearest
from ppro.parts.choices import Kind

_PLANETOID_LICENCE = "MIT (kimiyoung/planetoid)"
_GEOM_GCN_LICENCE = "not stated by the upstream repository (graphdml-uiuc-jlu/geom-gcn)"
_HETEROPHILOUS_LICENCE = "MIT (yandex-research/heterophilous-graphs)"

_SEN = (
    "P. Sen, G. Namata, M. Bilgic, L. Getoor, B. Gallagher, T. Eliassi-Rad. "
    "Collective classification in network data. AI Magazine 29(3), 2008"
)
_YANG = (
    "Z. Yang, W. Cohen, R. Salakhutdinov. "
    "Revisiting semi-supervised learning with graph embeddings. ICML 2016"
)
_NAMATA = (
    "G. Namata, B. London, L. Getoor, B. Huang. "
    "Query-driven active surveying for collective classification. MLG 2012"
)
_PEI = (
    "H. Pei, B. Wei, K. C.-C. Chang, Y. Lei, B. Yang. "
    "Geom-GCN: geometric graph convolutional networks. ICLR 2020"
)
_ROZEMBERCZKI = (
    "B. Rozemberczki, C. Allen, R. Sarkar. "
    "Multi-scale attributed node embedding. Journal of Complex Networks 9(2), 2021"
)
_TANG = "J. Tang, J. Sun, C. Wang, Z. Yang. Social influence analysis in large networks. KDD 2009"
_PLATONOV = (
    "O. Platonov, D. Kuznedelev, M. Diskin, A. Babenko, L. Prokhorenkova. A critical look at the "
    "evaluation of GNNs under heterophily: are we really making progress? ICLR 2023"
)

_WHICH_CORNELL = (
    "cornell is the corrected graph. cornell-legacy, the file behind most published tables, is "
    "flawed: its features and labels are a copy of Texas's, on Cornell's edges."
)

_CITATION_SPLITS = (PUBLIC, RANDOM)
_HETEROPHILY_SPLITS = (RANDOM, GEOM_GCN)

_CORA = DatasetInfo(
    name="cora",
    title="Cora",
    kind="homophilous",
    sources=(planetoid_files("Cora", "cora", in_wheel=False), linqs_cora_files()),
    licence=_PLANETOID_LICENCE,
    citation=f"{_SEN}; {_YANG}",
    expected=Statistics(nodes=2708, edges=5278, features=1433, classes=7),
    paper=Statistics(nodes=2708, edges=5429, features=1433, classes=7),
    known_defects=(
        "the paper's 5429 edges are citations with a direction; 151 pairs of papers cite each "
        "other, which leaves 5278 undirected edges",
    ),
    splits=_CITATION_SPLITS,
    class_names=CORA_CLASSES,
)

_CITESEER = DatasetInfo(
    name="citeseer",
    title="Citeseer",
    kind="homophilous",
    sources=(planetoid_files("CiteSeer", "citeseer", in_wheel=True),),
    licence=_PLANETOID_LICENCE,
    citation=f"{_SEN}; {_YANG}",
    expected=Statistics(nodes=3327, edges=4552, features=3703, classes=6),
    paper=Statistics(nodes=3327, edges=4732, features=3703, classes=6),
    known_defects=(
        "the paper's 4732 edges are half of the 9464 listed entries, which repeat edges and hold "
        "124 self-loops; 4552 undirected edges remain",
        "48 nodes have no edge to another node",
        "15 nodes are missing from the feature file: as in Kipf and Welling's loader they get "
        "zero features and class 0; the public split uses none of them",
    ),
    splits=_CITATION_SPLITS,
    # Upstream numbers the classes; LINQS' class sizes differ from each other, so the sizes
    # here (249 + the 15 nodes above, 590, 668, 701, 596, 508) name them.
    class_names=("AI", "ML", "IR", "DB", "Agents", "HCI"),
)

_PUBMED = DatasetInfo(
    name="pubmed",
    title="Pubmed",
    kind="homophilous",
    sources=(planetoid_files("PubMed", "pubmed", in_wheel=True),),
    licence=_PLANETOID_LICENCE,
    citation=f"{_NAMATA}; {_YANG}",
    expected=Statistics(nodes=19717, edges=44324, features=500, classes=3),
    paper=Statistics(nodes=19717, edges=44338, features=500, classes=3),
    known_defects=(
        "the paper's 44338 edges are half of the 88676 listed entries, which repeat edges and "
        "hold 3 self-loops; 44324 undirected edges remain",
    ),
    splits=_CITATION_SPLITS,
)

_CHAMELEON = DatasetInfo(
    name="chameleon",
    title="Chameleon",
    kind="heterophilous",
    sources=(npz_file("chameleon"),),
    licence=_HETEROPHILOUS_LICENCE,
    citation=f"{_ROZEMBERCZKI}; {_PEI}; {_PLATONOV}",
    expected=Statistics(nodes=2277, edges=31371, features=2325, classes=5),
    paper=Statistics(nodes=2277, edges=36101, features=2325, classes=5),
    known_defects=(
        "the paper's 36101 edges are links with a direction, 50 of them self-loops; 31371 "
        "undirected edges remain",
        "many duplicated nodes: 1048 of 2277 share all neighbours and the label with an earlier "
        "node, so test nodes leak into training (Platonov et al., 2023)",
        "233 nodes have no features",
    ),
    splits=_HETEROPHILY_SPLITS,
)

_CHAMELEON_DEDUPLICATED = DatasetInfo(
    name="chameleon-deduplicated",
    title="Chameleon (dedup.)",
    kind="heterophilous",
    sources=(npz_file("chameleon", "npz-deduplicated"),),
    licence=_HETEROPHILOUS_LICENCE,
    citation=f"{_ROZEMBERCZKI}; {_PEI}; {_PLATONOV}",
    expected=Statistics(nodes=1229, edges=14611, features=2325, classes=5),
    known_defects=(
        "Chameleon without the 1048 nodes that share label and all neighbours with an earlier "
        "node; not the 890 nodes of Platonov et al. (2023), who judge by page traffic, which the "
        "file does not hold",
    ),
    splits=_HETEROPHILY_SPLITS,
)

_CORNELL = DatasetInfo(
    name="cornell",
    title="Cornell",
    kind="heterophilous",
    sources=(npz_file("cornell"),),
    licence=_HETEROPHILOUS_LICENCE,
    citation=f"{_PEI}; {_PLATONOV}",
    expected=Statistics(nodes=183, edges=277, features=1703, classes=5),
    paper=Statistics(nodes=183, edges=295, features=1703, classes=5),
    known_defects=(
        "the corrected Cornell; most published tables use cornell-legacy",
        "the paper's 295 edges are links with a direction; 277 undirected edges remain",
    ),
    note=_WHICH_CORNELL,
    splits=_HETEROPHILY_SPLITS,
)

_CORNELL_LEGACY = DatasetInfo(
    name="cornell-legacy",
    title="Cornell (legacy)",
    kind="heterophilous",
    sources=(geom_gcn_files("legacy/cornell", "cornell"),),
    licence=_GEOM_GCN_LICENCE,
    citation=_PEI,
    expected=Statistics(nodes=183, edges=277, features=1703, classes=5),
    paper=Statistics(nodes=183, edges=295, features=1703, classes=5),
    known_defects=(
        "features and labels are those of Texas, on Cornell's edges: the upstream file is a copy; "
        "kept because most published tables use it",
        "class 1 has a single node",
        "the file lists 298 links with a direction; the paper's 295 leave out 3 self-loops, and "
        "277 undirected edges remain",
    ),
    note=_WHICH_CORNELL,
    splits=_HETEROPHILY_SPLITS,
)

_TEXAS = DatasetInfo(
    name="texas",
    title="Texas",
    kind="heterophilous",
    sources=(geom_gcn_files("texas", "texas"),),
    licence=_GEOM_GCN_LICENCE,
    citation=_PEI,
    expected=Statistics(nodes=183, edges=279, features=1703, classes=5),
    paper=Statistics(nodes=183, edges=309, features=1703, classes=5),
    known_defects=(
        "class 1 has a single node, so it is never both trained on and tested",
        "the file lists 325 links with a direction; the paper's 309 leave out 16 self-loops, and "
        "279 undirected edges remain",
    ),
    splits=_HETEROPHILY_SPLITS,
)

_WISCONSIN = DatasetInfo(
    name="wisconsin",
    title="Wisconsin",
    kind="heterophilous",
    sources=(geom_gcn_files("wisconsin", "wisconsin"),),
    licence=_GEOM_GCN_LICENCE,
    citation=_PEI,
    expected=Statistics(nodes=251, edges=450, features=1703, classes=5),
    paper=Statistics(nodes=251, edges=499, features=1703, classes=5),
    known_defects=(
        "the file lists 515 links with a direction; the paper's 499 leave out 16 self-loops, and "
        "450 undirected edges remain",
    ),
    splits=_HETEROPHILY_SPLITS,
)

_ACTOR = DatasetInfo(
    name="actor",
    title="Actor",
    kind="heterophilous",
    sources=(geom_gcn_files("actor", "film", indexed=True),),
    licence=_GEOM_GCN_LICENCE,
    citation=f"{_TANG}; {_PEI}",
    expected=Statistics(nodes=7600, edges=26659, features=932, classes=5),
    paper=Statistics(nodes=7600, edges=26659, features=932, classes=5),
    known_defects=(
        "the file lists 33391 links with repetitions and 122 self-loops; 26659 undirected edges "
        "remain, as the paper prints",
    ),
    splits=_HETEROPHILY_SPLITS,
)

DATASETS: dict[str, DatasetInfo] = {
    info.name: info
    for info in (
        _CORA,
        _CITESEER,
        _PUBMED,
        _CHAMELEON,
        _CHAMELEON_DEDUPLICATED,
        _CORNELL,
        _CORNELL_LEGACY,
        _TEXAS,
        _WISCONSIN,
        _ACTOR,
        DIGITS,
        CSBM,
    )
}


_OF_THE_PACKAGE = frozenset(DATASETS)


def register_dataset(record: DatasetInfo) -> DatasetInfo:
    """Make a dataset known by its name to every command; registered again, it is replaced.

    Raises:
        DataError: the package has one of that name.
    """
    if record.name in _OF_THE_PACKAGE:
        raise DataError(f"dataset {record.name!r}: the package has one; choose another name")
    DATASETS[record.name] = record
    return record


def dataset_info(name: str) -> DatasetInfo:
    """Return the entry of a dataset.

    Raises:
        DataError: there is no such dataset.
    """
    if name not in DATASETS:
        raise DataError(
            f"unknown dataset {name!r}; {nearest(name, tuple(DATASETS))} (one of your own is known "
            "once the script that registers it has run: ppro --load FILE)"
        )
    return DATASETS[name]


def kind_of(name: str) -> Kind:
    """Tell whether neighbours in a dataset tend to share their class."""
    return dataset_info(name).kind


def default_split(name: str) -> str:
    """Return the split used when none is named."""
    return dataset_info(name).splits[0]
