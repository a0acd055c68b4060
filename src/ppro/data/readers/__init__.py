"""Readers of the raw files of the catalogue, which execute nothing that a file holds.

``planetoid`` reads what ``pickles`` unpacks without pickle, ``linqs`` brings the other Cora into
the same order, ``geom_gcn`` reads text, ``npz`` arrays, also without the copies of
nodes; ``raw`` is what they all return. Checks of the graph itself are not made here.
"""
