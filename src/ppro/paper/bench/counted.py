"""What an epoch does, counted: products, operators, bytes. The same on every machine and any day.

Times of a busy machine say little; these counts tell at once when an epoch does more than before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ppro.compute import feature_products, propagation
from ppro.compute.sparse import multiply


@dataclass(frozen=True)
class Counts:
    """What was counted.

    Args:
        steps: products with Â or its transpose, those of several runs as one.
        features: likewise with X, where it is sparse.
        operators: calls of PyTorch's operators.
        allocated: bytes of all results that are not views and were not given a place.
    """

    steps: int
    features: int
    operators: int
    allocated: int


def count(work: Callable[[], None]) -> Counts:
    """Return what a call does, on this thread."""
    calls = {propagation: 0, feature_products: 0}

    def counted(module: Any) -> Callable[..., Tensor]:
        def product(*args: Any, **options: Any) -> Tensor:
            calls[module] += 1
            return multiply(*args, **options)

        return product

    operators = _Operators()
    with (
        patch.object(propagation, "multiply", counted(propagation)),
        patch.object(feature_products, "multiply", counted(feature_products)),
        operators,
    ):
        work()
    of_steps, of_features = calls[propagation], calls[feature_products]
    return Counts(of_steps, of_features, operators.calls, operators.allocated)


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts operators and the bytes of their new results."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls = self.allocated = 0

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the operator and count it."""
        options = dict(kwargs or {})
        made = func(*args, **options)
        known = {_place(part) for part in tree_leaves((args, options))}
        self.calls += 1
        for part in tree_leaves(made):
            place = _place(part)
            if place is not None and place not in known:
                known.add(place)
                self.allocated += part.untyped_storage().nbytes()
        return made


def _place(part: Any) -> int | None:
    """Return where a tensor's numbers lie; a sparse one has no place of its own."""
    if not isinstance(part, Tensor) or part.layout != torch.strided:
        return None
    return part.untyped_storage().data_ptr() or None
