"""Numbers that commands show as defaults; here, so that a help text needs no PyTorch."""

BUDGET = 60.0
"""Seconds of a training that searches its settings first: both together."""
CHECKPOINT_EVERY = 10.0
"""Seconds between two checkpoints, at least."""
MOST_RUNS = 10_000
"""Runs of a training, at most."""
MOST_EPOCHS = 1_000_000
"""Epochs of a run, at most, and of all that is counted in epochs."""
MOST_WIDTH = 65_536
"""Width of a layer, at most."""
MOST_STEPS = 1_000
"""Propagation steps, at most."""
MOST_CORES = 1024
"""Threads of a training, at most: the system gives up at some thousands."""
SEARCH_SEED = 1000
"""Seeds of searches begin here, those of tables at 0: what is reported was never searched on."""
SEEDS_OF_FIXED, SEEDS_OF_RANDOM = 3, 5
"""Seeds of a searched configuration on a fixed split, and on random ones, a split for each."""
CONFIGURATIONS = 16
"""Configurations that a search for a table tries."""
LARGE_EPOCHS = 15
"""Epochs of a measurement on large graphs: enough for L2B and the MLP to lie far apart."""
