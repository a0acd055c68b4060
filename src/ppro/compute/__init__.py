"""How it is computed: products, propagation and its adjoint, dropout, features, layers.

``sparse`` has the one sparse product, ``propagation`` the normalised adjacency and the recursion
with selection inside, ``dense`` products with weights, ``attention`` attention over its entries,
``means`` the mean over neighbours, ``edge_rows`` passes over edges by rows; ``features`` and
``feature_blocks`` hold X in memory or on disk, ``feature_products`` multiply with it; ``noise`` is
dropout by counting, ``layers`` have a run dimension, ``precision`` keeps to single precision,
``blocks`` shares rows out over threads. ``gpu``, ``gpu_noise`` and ``capture`` are for GPUs,
``cpu_noise`` for the CPU and ``allocator`` for its memory; ``device`` finds the one that a user
names, ``ranks`` and ``interrupts`` are what several processes and Ctrl-C look like from here. No
model, loss or file of a user lives here.
"""
