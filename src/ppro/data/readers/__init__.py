"""Readers of the raw files of the catalogue, which execute nothing that a file holds.

``planetoid`` reads what ``pickles`` unpacks without pickle, and the other Cora in the same order;
``geom_gcn`` reads text, ``npz`` arrays, also without copies of nodes; ``raw`` is what they all
return. Checks of the graph itself are not made here.
"""
