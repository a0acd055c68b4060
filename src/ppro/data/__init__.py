"""Where graphs come from: catalogue, sources, safe readers, splits and statistics."""

from __future__ import annotations

from ppro.data.catalog import DATASETS, dataset_info
from ppro.data.files import save_graph
from ppro.data.loading import default_split, load_graph, make_splits
from ppro.data.names import SPLITS
from ppro.data.records import DatasetInfo, RawFile, Statistics
from ppro.data.splits import Splits
from ppro.data.statistics import Description, describe

__all__ = [
    "DATASETS",
    "SPLITS",
    "DatasetInfo",
    "Description",
    "RawFile",
    "Splits",
    "Statistics",
    "dataset_info",
    "default_split",
    "describe",
    "load_graph",
    "make_splits",
    "save_graph",
]
