"""What a backbone predicts of every node at every step, and what its neighbours predict."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class StepPredictions:
    """Of all nodes and backbones; B backbones are R runs with their judges.

    Args:
        scores: centred class scores. Shape ``[L + 1, B, n, c]``.
        near: mean prediction of the neighbours. Shape ``[L + 1, B, n, c]``.
        changing: priority measures of embeddings, standardised. Shape ``[B, n, q]``.
    """

    scores: Tensor
    near: Tensor
    changing: Tensor

    def seen(self, nodes: Tensor, backbone: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return scores, neighbours and measures of some nodes, each as one backbone sees it.

        Args:
            nodes: Shape ``[R, m]``.
            backbone: the number of the backbone that looks. Shape ``[R, m]``.
        """
        steps, count, all_nodes, classes = self.scores.shape
        flat = backbone * all_nodes + nodes

        def pick(values: Tensor) -> Tensor:
            return values.reshape(steps, count * all_nodes, classes)[:, flat]

        measures = self.changing.reshape(count * all_nodes, -1)[flat]
        return pick(self.scores), pick(self.near), measures
