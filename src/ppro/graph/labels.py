"""Labels as users write them: names or numbers, with gaps where the class is not known."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ppro.errors import DataError
from ppro.graph.core import UNLABELLED

Array = NDArray[Any]
REMEDY = "write None, NaN or -1 for a node without a label"


def known_labels(values: Any, num_nodes: int, name: str) -> tuple[Array, NDArray[np.bool_]]:
    """Return labels in one type (text, whole numbers or truth values), and where they are known.

    None, NaN and -1 stand for a node without a label; its entry means nothing.

    Args:
        values: an array, a tensor, a pandas column or a list, one entry for each node.
    """
    array = _column(values, num_nodes, name)
    if array.dtype.kind in "bU":
        return array, np.ones(num_nodes, dtype=np.bool_)
    if array.dtype.kind in "iuf":
        return _whole(array, np.ones(num_nodes, dtype=np.bool_), name)
    known = np.array([not _missing(value) for value in array], dtype=np.bool_)
    return _of_one_type(array, known, name)


def encoded(values: Array, known: NDArray[np.bool_], classes: Array | None) -> tuple[Tensor, Array]:
    """Return labels as positions among the classes, -1 where not known, and the classes.

    Args:
        classes: the classes, or None to find them among the labels, sorted.
    """
    if classes is None:
        classes = np.unique(values[known])
    codes = np.full(values.shape[0], UNLABELLED, dtype=np.int64)
    where = {value: code for code, value in enumerate(classes.tolist())}
    codes[known] = [where.get(value, UNLABELLED) for value in values[known].tolist()]
    return torch.from_numpy(codes), classes


def _column(values: Any, num_nodes: int, name: str) -> Array:
    if isinstance(values, Tensor):
        values = values.detach().cpu()
        values = (values.float() if values.dtype == torch.bfloat16 else values).numpy()
    if isinstance(values, np.ma.MaskedArray):
        shown = np.array(np.ma.getdata(values), dtype=object)
        shown[np.ma.getmaskarray(values)] = None
        values = shown
    # NumPy would turn a list of names with a gap into names only, the gap among them.
    array = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (num_nodes,):
        raise DataError(
            f"{name}: labels of shape {array.shape} for {num_nodes} nodes; give one for each, "
            f"and {REMEDY}"
        )
    return array


def _missing(value: Any) -> bool:
    # pandas writes NA, which is not even equal to itself, and NaT.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _of_one_type(
    array: Array, known: NDArray[np.bool_], name: str
) -> tuple[Array, NDArray[np.bool_]]:
    kinds = {_kind(value) for value in array[known]}
    if kinds == {"number"} and all(isinstance(v, int | np.integer) for v in array[known]):
        return _integers(array, known, name)
    if kinds <= {"number"}:
        return _whole(np.where(known, array, UNLABELLED).astype(np.float64), known, name)
    if len(kinds) > 1 or "other" in kinds:
        found = ", ".join(sorted({type(value).__name__ for value in array[known]}))
        raise DataError(
            f"{name}: labels of types {found}; make them all text or all whole numbers, "
            f"and {REMEDY}"
        )
    kind = np.str_ if kinds == {"text"} else np.bool_
    filled = array.copy()
    filled[~known] = "" if kinds == {"text"} else False
    return filled.astype(kind), known


def _integers(array: Array, known: NDArray[np.bool_], name: str) -> tuple[Array, NDArray[np.bool_]]:
    """Return whole numbers with gaps, not through floats: those above 2^53 would lose digits."""
    filled = [int(v) if k else UNLABELLED for v, k in zip(array, known, strict=True)]
    try:
        return _whole(np.array(filled, dtype=np.int64), known, name)
    except OverflowError:
        largest = max(filled, key=abs)
        raise DataError(f"{name}: label {largest} is beyond 64 bits; write it as text") from None


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "truth value"
    return "number" if isinstance(value, int | float | np.integer | np.floating) else "other"


def _whole(array: Array, known: NDArray[np.bool_], name: str) -> tuple[Array, NDArray[np.bool_]]:
    if array.dtype.kind == "f":
        known = known & ~np.isnan(array)
        array = np.where(known, array, UNLABELLED)
        _refuse(known & (array != np.floor(array)), array, name, "is not a whole number")
        _refuse(known & ~np.isfinite(array), array, name, "is infinite")
    # As a float, for 2^63 itself is beyond 64 bits with a sign.
    _refuse(known & (np.abs(array.astype(np.float64)) >= 2.0**63), array, name, "is too large")
    array = array.astype(np.int64)
    _refuse(known & (array < UNLABELLED), array, name, "is negative")
    return array, known & (array != UNLABELLED)


def _refuse(wrong: NDArray[np.bool_], array: Array, name: str, what: str) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"{name}: label {array[row]} of node {row} {what}; classes are text or whole numbers "
            f"from 0; {REMEDY}"
        )
