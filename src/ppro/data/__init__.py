"""Where graphs come from: the catalogue, the files of a user, and the splits of either.

``catalog`` lists the datasets, records as ``records`` defines them, from the files that
``file_sets`` names or made by ``generated``; ``names`` has the names of splits and ``page`` writes
the catalogue as a page. ``loading`` turns a name into a graph and masks: ``fetch`` looks for raw
files in ``storage``, upstream and in ``package_index``, ``readers`` read them without running
anything they hold, and ``content`` tells whether it is the right graph. ``options`` are what a user
may choose of a graph, one of them ``noise``. ``files`` reads and writes graphs of a user, ``large``
those on disk; ``splits`` checks and completes masks, ``drawn`` draws them, ``statistics`` describes
a graph. Whatever is wrong with data is a DataError that names the file, the place in it and a
remedy. Nothing here knows of models or training, and the catalogue can be listed without PyTorch.
"""

from typing import TYPE_CHECKING

from ppro.data.catalog import (
    DATASETS,
    PAPERS,
    dataset_info,
    default_split,
    kind_of,
    register_dataset,
)
from ppro.data.names import SPLITS
from ppro.data.records import DatasetInfo, Generator, Option, RawFile, Statistics
from ppro.parts.lazy import lazy

if TYPE_CHECKING:
    from ppro.data.files import save_graph
    from ppro.data.generated.planted import deep_nodes
    from ppro.data.loading import load_graph, make_splits
    from ppro.data.noise import noised_nodes, with_noise
    from ppro.data.splits import Splits
    from ppro.data.statistics import Description, describe

__all__ = [
    "DATASETS",
    "PAPERS",
    "SPLITS",
    "DatasetInfo",
    "Description",
    "Generator",
    "Option",
    "RawFile",
    "Splits",
    "Statistics",
    "dataset_info",
    "deep_nodes",
    "default_split",
    "describe",
    "kind_of",
    "load_graph",
    "make_splits",
    "noised_nodes",
    "register_dataset",
    "save_graph",
    "with_noise",
]

__getattr__ = lazy(
    __name__,
    {
        "ppro.data.files": ("save_graph",),
        "ppro.data.generated.planted": ("deep_nodes",),
        "ppro.data.loading": ("load_graph", "make_splits"),
        "ppro.data.noise": ("noised_nodes", "with_noise"),
        "ppro.data.splits": ("Splits",),
        "ppro.data.statistics": ("Description", "describe"),
    },
)
