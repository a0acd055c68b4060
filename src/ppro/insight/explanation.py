"""What one run says of every node, as plain tensors."""

from dataclasses import dataclass

import torch
from torch import Tensor

OTHER_DRIVERS = ("own embedding h0", "embedding at its step", "step")
"""What the weight controller sees of a node beside z (Eq. 11)."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What one run says of every node.

    Args:
        probabilities: of each class, had the node stopped at step k = 0 … L; for a rival of PPro
            there is one entry, its answer. Shape ``[n, L + 1, c]``.
        steps: where each node stopped: an index into ``probabilities``. Shape ``[n]``.
        decisions: the strategy's chance to do what its verb says, at every step where it may, or
            None where nothing is decided. Shape ``[n, L]``.
        first_decision: the step of the first of them.
        threshold: what a chance must exceed.
        priorities: w (Eq. 11), or None without a weight controller. Shape ``[n]``.
        measures: z, or None without controllers. Shape ``[n, measures]``.
        drivers: gradient x input of w for each of its inputs. Shape ``[n, measures + others]``.
        measure_names: what the measures are called.
        other_drivers: what the weight controller sees beside them.
        evidence: what comparing controllers see of a node at step k = 0 … L, each number within
            0 and 1, or None where they see embeddings. Shape ``[n, L + 1, e]``.
        evidence_names: what these numbers are called.
        feature_index: the node's features that speak most for or against its predicted class,
            the strongest first, or None where the first layer sees neighbours. Shape ``[n, t]``.
        feature_score: gradient x input of each of them; 0 is padding. Shape ``[n, t]``.
    """

    probabilities: Tensor
    steps: Tensor
    decisions: Tensor | None = None
    priorities: Tensor | None = None
    measures: Tensor | None = None
    drivers: Tensor | None = None
    feature_index: Tensor | None = None
    feature_score: Tensor | None = None
    measure_names: tuple[str, ...] = ()
    other_drivers: tuple[str, ...] = OTHER_DRIVERS
    first_decision: int = 1
    threshold: float = 0.5
    evidence: Tensor | None = None
    evidence_names: tuple[str, ...] = ()

    @property
    def driver_names(self) -> tuple[str, ...]:
        """Return what the weight controller sees of a node (Eq. 11)."""
        return (*self.measure_names, *self.other_drivers)

    def decision(self, node: int, step: int) -> float | None:
        """Return the chance of a node at a step; None where nothing is decided there."""
        if self.decisions is None:
            return None
        place = step - self.first_decision
        return float(self.decisions[node, place]) if 0 <= place < self.decisions.shape[1] else None

    @property
    def last_step(self) -> int:
        """L, the largest step."""
        return self.probabilities.shape[1] - 1

    @property
    def chosen(self) -> bool:
        """Tell whether nodes choose their step."""
        return self.decisions is not None or bool((self.steps != self.steps[:1]).any())

    @property
    def by_step(self) -> Tensor:
        """Return the class predicted at every step. Shape ``[n, L + 1]``."""
        return self.probabilities.argmax(-1)

    @property
    def final(self) -> Tensor:
        """Class probabilities at each node's own step. Shape ``[n, c]``."""
        return self.probabilities[torch.arange(self.steps.shape[0]), self.steps]

    @property
    def predicted(self) -> Tensor:
        """Return the class that the run predicts. Shape ``[n]``."""
        return self.final.argmax(-1)
