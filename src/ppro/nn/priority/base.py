"""What a priority measure is, and how z is made of several."""

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from ppro.errors import SettingsError
from ppro.nn.priority.edges import Edges
from ppro.parts import MEASURES


class Measure(ABC):
    """A number for every node that tells the controllers of its priority.

    A measure of the graph alone defines :meth:`of_graph` and is computed once; one of embeddings
    defines :meth:`of_step` and is computed anew in each pass. Each is standardised over all nodes.
    A subclass with a ``name`` is known by it to the setting ``measures``.

    Attributes:
        name: what settings and files call it.
        title: what explanations and reports call it.
        fixed: whether the graph alone decides it.
        up_to_scale: whether a measure of embeddings depends on h_0 - ĥ^(1) alone and is
            proportional to it, so that h_1 of a linear recursion serves as well as ĥ^(1).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    fixed: ClassVar[bool] = True
    up_to_scale: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            MEASURES.register(cls.name, cls)

    def of_graph(self, edges: Edges) -> Tensor:
        """Return the measure of the nodes whose edges are at hand. Shape ``[n]``, float64."""
        raise NotImplementedError(f"{type(self).__name__} is no measure of the graph alone")

    def of_step(self, h0: Tensor, aggregate: Tensor) -> Tensor:
        """Return the measure of embeddings.

        Args:
            h0: h^(0) of all nodes. Shape ``[R, n, d]``.
            aggregate: ĥ^(1) of all nodes, before weights and dropout. Shape ``[R, n, d]``.

        Returns:
            Shape ``[R, n]``.
        """
        raise NotImplementedError(f"{type(self).__name__} is no measure of embeddings")


def measures_of(names: Sequence[str]) -> tuple[list[Measure], list[Measure]]:
    """Return the named measures: those of the graph alone, then those of embeddings."""
    found: list[Measure] = [MEASURES.get(name)() for name in names]
    return [m for m in found if m.fixed], [m for m in found if not m.fixed]


def influence(edges: Edges, names: Sequence[str]) -> Tensor:
    """Return the part of z that never changes, standardised. Shape ``[n, number of measures]``."""
    fixed, _ = measures_of(names)
    columns = [edges.standardised(_values(measure, edges)) for measure in fixed]
    return torch.stack(columns, dim=1) if columns else torch.zeros(edges.num_own, 0)


def _values(measure: Measure, edges: Edges) -> Tensor:
    """Return what a measure says of the nodes at hand; one of a user's own may say anything."""
    values = torch.as_tensor(measure.of_graph(edges)).to(torch.float64)
    if values.shape != (edges.num_own,):
        raise SettingsError(
            f"priority measure '{measure.name}': of_graph gives shape {tuple(values.shape)} for "
            f"{edges.num_own} nodes; give one number for each"
        )
    if not bool(torch.isfinite(values).all()):
        raise SettingsError(
            f"priority measure '{measure.name}': of_graph gives NaN or infinite numbers; give "
            "finite ones, 0 where a node has none"
        )
    return values


def titles(names: Sequence[str]) -> list[str]:
    """Return what the columns of z are called, in their order."""
    return [measure.title for part in measures_of(names) for measure in part]
