"""The names of splits, and a default of tables, for help texts."""

import re

PUBLIC = "public"
RANDOM = "random-60-20-20"
GEOM_GCN = "geom-gcn-48-32-20"
GIVEN = "given"
"""The splits that come with a graph: in the files of a user, or in those of a benchmark."""
PER_CLASS = "20-per-class"
"""Few labels: 20 of each class train. Any other number may stand in its place."""
SPLITS = (PUBLIC, RANDOM, GEOM_GCN, GIVEN, PER_CLASS)
MAX_CATEGORIES = 50
"""Categories of a column of a table; rarer ones share a feature."""
MAX_WORDS = 2000
"""Words of a column of text that become features, the most frequent."""


def labels_per_class(split: str) -> int | None:
    """Return N of a split ``N-per-class``, and None for any other."""
    found = re.fullmatch(r"([1-9][0-9]{0,8})-per-class", split)
    return None if found is None else int(found[1])


def split_names(splits: tuple[str, ...]) -> str:
    """Return the splits of a graph for a message: its own, and the one that any graph has."""
    return ", ".join((*splits, "N-per-class"))


def is_drawn(split: str) -> bool:
    """Tell whether every run draws its own nodes, which any graph can be split by."""
    return split == RANDOM or labels_per_class(split) is not None
