"""The judges of the controllers, one kind of them to a file.

A backbone soon knows the labels of the nodes it learns from, most of all at step 0, where their own
features stand alone. Errors of such nodes say little about the steps of others.

``base`` says what judges are: further backbones of a run, which training nodes each of them learns
from and looks at, and which of them teach φ. ``train`` is the paper's way, all training nodes;
``share`` keeps a share of them from θ; ``folds`` has backbones that are each blind to a fold.
"""

from ppro.training.judges.base import Judges, Panel, judges_of, networks_of

__all__ = ["Judges", "Panel", "judges_of", "networks_of"]
