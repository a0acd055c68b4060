"""What a large generated graph is to look like."""

from __future__ import annotations

from dataclasses import dataclass

from ppro.errors import DataError

_RANGES = {
    "nodes": (20, 2**31 - 1),
    "degree": (0.1, 10_000),
    "homophily": (0, 1),
    "classes": (2, 10_000),
    "features": (1, 100_000),
    "signal": (0, 1e6),
    "train": (0, 1),
    "val": (0, 1),
    "seed": (0, 2**31 - 1),
}


@dataclass(frozen=True)
class LargePlan:
    """What to generate.

    Args:
        nodes: n.
        degree: the mean number of neighbours.
        homophily: the share of the edges within a class.
        features: f, the width of a row of features.
        signal: length of the class centres, around which features are standard normal.
        train: share of the nodes that train.
        val: share that validates; the rest is for testing.
    """

    nodes: int = 1_000_000
    degree: float = 20.0
    homophily: float = 0.7
    classes: int = 10
    features: int = 128
    signal: float = 1.0
    train: float = 0.1
    val: float = 0.05
    seed: int = 0

    def check(self) -> None:
        """Refuse what cannot be generated."""
        for key, (low, high) in _RANGES.items():
            value = getattr(self, key)
            if not low <= value <= high:
                raise DataError(f"{key} is {value:g}, expected a number from {low:g} to {high:g}")
        if self.nodes < 10 * self.classes:
            raise DataError(f"{self.nodes} nodes for {self.classes} classes; give ten to each")
        if self.degree > self.nodes / self.classes / 10:
            most = self.nodes / self.classes / 10
            raise DataError(f"degree is {self.degree:g}, at most {most:g} fits; give more nodes")
        if not 0 < self.train < self.train + self.val <= 1 or self.val == 0:
            raise DataError("train and val must be shares of the nodes, together at most 1")
