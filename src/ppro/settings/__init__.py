"""What a training is made of: typed settings in groups, recipes, and what a search may choose.

``groups`` is what groups share; ``inputs``, ``controllers`` and ``training`` are those that every
network has, and a network's own stands beside its class; ``settings`` joins them and reads flat
names; ``explain`` turns errors into one line. ``recipe`` and ``recipes`` are settings for a graph,
``space`` is what a search draws from,
``limits`` has defaults that commands show. Nothing here imports PyTorch by itself or trains.
"""
