"""Opening the folder of a large graph: everything checked, nothing but labels and starts loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ppro.data.large.checks import (
    check_features,
    check_labels,
    check_neighbours,
    check_split,
    check_starts,
)
from ppro.data.large.store import META, PARTS, SPLIT, Meta, open_array, read_meta
from ppro.data.readers.raw import Masks
from ppro.errors import DataError
from ppro.graph.large import FeatureRows, LargeGraph


def is_large_folder(path: Path) -> bool:
    """Tell whether a path is a folder that holds a large graph."""
    return (path / META).is_file()


def read_large(folder: Path) -> tuple[LargeGraph, Masks | None]:
    """Open a large graph, and the split that it states."""
    meta = read_meta(folder)
    opened = {name: open_array(folder, name, meta) for name in meta.bytes}
    starts, labels = np.array(opened["indptr.npy"]), np.array(opened["labels.npy"])
    check_starts(folder / "indptr.npy", starts, meta.entries)
    check_neighbours(folder / "indices.npy", starts, opened["indices.npy"])
    check_labels(folder / "labels.npy", labels, len(meta.class_names))
    rows = _feature_rows(folder, meta, opened["features.npy"].offset)
    check_features(folder / "features.npy", rows)
    graph = LargeGraph(
        folder.absolute().name,
        torch.from_numpy(starts),
        torch.from_numpy(opened["indices.npy"]),
        rows,
        torch.from_numpy(labels.astype(np.int64)),
        meta.class_names,
    )
    return graph, _masks(folder, opened.get(SPLIT))


def _feature_rows(folder: Path, meta: Meta, offset: int) -> FeatureRows:
    path, width = folder / "features.npy", meta.features

    def read(rows: slice) -> Tensor:
        # Read, not mapped: mapped pages would stay with the process, and a pass touches them all.
        count, begin = (rows.stop - rows.start) * width, offset + 4 * rows.start * width
        found = np.fromfile(path, np.float32, count, offset=begin)
        if found.size != count:
            raise DataError(f"{path}: became shorter while it was read; make it again")
        return torch.from_numpy(found.reshape(-1, width))

    def whole() -> Tensor:
        return torch.from_numpy(open_array(folder, "features.npy", meta))

    return FeatureRows((meta.nodes, width), read, whole)


def _masks(folder: Path, split: np.memmap[Any, Any] | None) -> Masks | None:
    if split is None:
        return None
    parts = np.array(split)
    check_split(folder / SPLIT, parts)
    train, val, test = ((parts == PARTS[part])[None] for part in ("train", "val", "test"))
    return Masks(train, val, test)
