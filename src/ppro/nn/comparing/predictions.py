"""What backbones predict of nodes at every step, and what the neighbours of the nodes predict."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ppro.nn.comparing.sight import Sight


@dataclass(frozen=True, eq=False)
class StepPredictions:
    """Of B backbones, which are R runs with their judges, for the nodes that they look at.

    Args:
        sight: which nodes these are.
        scores: centred class scores. Shape ``[L + 1, s, c]``.
        near: mean prediction of the neighbours of the nodes asked about. Shape ``[L + 1, a, c]``.
        z: the priority measures. Shape ``[s, q]``.
    """

    sight: Sight
    scores: Tensor
    near: Tensor
    z: Tensor

    def seen(self, nodes: Tensor, backbone: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return scores, neighbours and measures of some nodes, each as one backbone sees it.

        Args:
            nodes: Shape ``[R, m]``.
            backbone: the number of the backbone that looks. Shape ``[R, m]``.
        """
        row, asked = self.sight.find(nodes, backbone)
        return self.scores[:, row], self.near[:, asked], self.z[row]
