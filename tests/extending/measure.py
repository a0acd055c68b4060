"""A priority measure of one's own: how far a node's neighbours' degrees are from its own."""

from ppro.nn.priority import Measure


class DegreeGap(Measure):
    """The mean degree of a node and its neighbours, less its own."""

    name, title = "degree-gap", "degree gap"

    def of_graph(self, edges):
        degree = edges.degree()
        return edges.with_neighbours(degree) / (degree + 1) - degree


class Size(Measure):
    """‖h_i^(0)‖, a measure of embeddings."""

    name, title = "size", "size of h0"
    fixed = False

    def of_step(self, h0, aggregate):
        return h0.norm(dim=-1)
