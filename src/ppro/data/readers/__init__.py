"""Readers of the raw files of the catalogue, which execute nothing that a file holds.

``planetoid`` reads what ``pickles`` unpacks without pickle, and the other Cora in the same order;
``geom_gcn`` reads text, ``npz`` arrays, also without copies of nodes, ``csr`` arrays that make up
sparse matrices, ``graph_data`` pickled ones, ``wiki_cs`` JSON and ``ogb`` compressed tables;
``raw`` is what they all return. Checks of the graph itself are not made here.
"""
