"""Who judges the controllers, one kind of judges to a file.

A backbone soon knows the labels of the nodes it learns from, most of all at step 0, where their own
features stand alone. Errors of such nodes say little about the steps of others.

``base`` says what judges are: further backbones of a run, who learns from which training nodes, who
looks at which, and which of them teach φ. ``train`` is the paper's way, all training nodes;
``share`` keeps a share of them from θ; ``folds`` has backbones that are each blind to a fold.
"""

from ppro.training.judges.base import Judges, Panel, judges_of, networks_of

__all__ = ["Judges", "Panel", "judges_of", "networks_of"]
