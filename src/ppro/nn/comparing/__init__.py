"""Controllers that compare steps, taught by errors that no training node has had a hand in.

``sight`` says which nodes backbones look at, ``predictions`` keeps what they predict there at every
step, ``evidence`` is what the controllers see of that, ``controllers`` are the two heads over it,
``costs`` turns honest errors into what a step costs a node, and ``network`` is PPro with these
controllers. Beside the paper's own form in :mod:`ppro.nn.batched`; who judges, and when, is decided
in training.
"""
