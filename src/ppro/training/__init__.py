"""Algorithm 1 and what surrounds it: optimiser, early stopping, checkpoints, ``fit``."""
