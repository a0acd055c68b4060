"""Handwritten digits, each joined to those that look most like it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ppro.data.records import DatasetInfo, Generator, Option

if TYPE_CHECKING:
    from ppro.graph.core import Graph


def make(info: DatasetInfo, seed: int, options: Mapping[str, float]) -> Graph:
    """Join scikit-learn's digits, pixels in [0, 1], to their nearest neighbours."""
    import numpy as np
    import torch
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    from ppro.graph.core import Graph

    images, labels = load_digits(return_X_y=True)
    pixels = images / 16.0
    pairs = kneighbors_graph(pixels, int(options["neighbours"])).nonzero()
    return Graph.build(
        info.name,
        torch.from_numpy(np.stack(pairs).astype(np.int64)),
        torch.from_numpy(pixels.astype(np.float32)),
        torch.from_numpy(labels.astype(np.int64)),
        class_names=info.class_names,
        directed=False,
    )


DIGITS = DatasetInfo(
    name="digits",
    title="Digits",
    kind="homophilous",
    generator=Generator(make, {"neighbours": Option(10, 1, 500, whole=True)}),
    licence="CC BY 4.0 (UCI, shipped with scikit-learn)",
    citation=(
        "E. Alpaydin, C. Kaynak. Optical recognition of handwritten digits. "
        "UCI Machine Learning Repository, 1998"
    ),
    known_defects=("its edges are made from its features: nearest neighbours, not observed links",),
    class_names=tuple("0123456789"),
)
