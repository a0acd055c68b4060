"""A metric of one's own: the least recall of all classes."""

import numpy as np

from ppro.training.metrics import Metric


class WorstRecall(Metric):
    """The share of its nodes that is found of the class that fares worst."""

    name, title = "worst-recall", "worst recall"

    def measure(self, probabilities, labels):
        found = probabilities.argmax(-1) == labels
        return min(float(found[labels == c].mean()) for c in np.unique(labels))
