"""Graphs that need no download, each a module with its record, its options and its generator.

``csbm`` is a contextual stochastic block model, ``digits`` joins handwritten digits that look
alike, ``planted`` has nodes that need different depths. The modules import nothing slow until a
graph is made, since the catalogue lists them.
"""
