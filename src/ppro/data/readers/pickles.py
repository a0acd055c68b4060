"""Pickles of arrays and sparse matrices, read without trusting them.

No class of NumPy or SciPy is ever called by the pickle: inert stand-ins record the state, and
the arrays are rebuilt from the recorded bytes with every size checked. A file can therefore
neither run code nor ask for more memory than a small multiple of its own size.
"""

import io
import math
import pickle
import pickletools
from collections import defaultdict
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppro.data.readers.raw import broken, consistent_csr, file_bytes

_DTYPES = {"f4", "f8", "i4", "i8", "i1", "u1", "b1"}
_OPCODES = {
    *("PROTO", "STOP", "MARK", "GLOBAL", "REDUCE", "NEWOBJ", "BUILD", "NONE", "NEWFALSE"),
    *("NEWTRUE", "BININT", "BININT1", "BININT2", "SHORT_BINSTRING", "BINSTRING"),
    *("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_TUPLE", "EMPTY_LIST", "APPEND", "APPENDS"),
    *("BINUNICODE", "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES", "LONG1", "FRAME"),
    *("MEMOIZE", "STACK_GLOBAL"),
    *("EMPTY_DICT", "SETITEM", "SETITEMS", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET"),
}
_MEMO_WRITES = {"BINPUT", "LONG_BINPUT"}


class _Inert:
    """Accepts any constructor arguments and remembers only its state."""

    __slots__ = ("made_with", "state")

    made_with: tuple[Any, ...]
    state: Any

    def __new__(cls, *made_with: Any) -> Self:
        made = super().__new__(cls)
        made.made_with, made.state = made_with, None
        return made

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Dtype(_Inert):
    __slots__ = ()


class _Array(_Inert):
    __slots__ = ()


class _Csr(_Inert):
    __slots__ = ()


class _Scalar(_Inert):
    __slots__ = ()


_ADMITTED: dict[tuple[str, str], type] = {
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Array,
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _Array for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): _Scalar for core in ("core", "_core")},
    **{(f"scipy.sparse.{module}", "csr_matrix"): _Csr for module in ("csr", "_csr")},
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"it asks for {module}.{name}, which no array needs"
            ) from None


def read_array(path: Path) -> NDArray[Any]:
    """Return the NumPy array pickled in ``path``."""
    return _rebuilt_array(path, _load(path, file_bytes(path)))


def read_csr(path: Path) -> sp.csr_matrix:
    """Return the SciPy CSR matrix pickled in ``path``."""
    return _rebuilt_csr(path, _load(path, file_bytes(path)))


def unpickled_csr(path: Path, data: bytes) -> sp.csr_matrix:
    """Return the SciPy CSR matrix of a pickled array that holds nothing else.

    Args:
        path: the file that the pickle comes from.
    """
    stub = _load(path, data)
    state = stub.state if isinstance(stub, _Array) else None
    if not isinstance(state, tuple) or len(state) != 5 or not isinstance(state[4], list):
        raise broken(path, "expected an array with one object")
    if state[1] != () or len(state[4]) != 1:
        raise broken(path, f"expected one SciPy matrix, got {len(state[4])} objects")
    return _rebuilt_csr(path, state[4][0])


def _rebuilt_csr(path: Path, stub: Any) -> sp.csr_matrix:
    state = stub.state if isinstance(stub, _Csr) else None
    if not isinstance(state, dict) or not {"data", "indices", "indptr", "_shape"} <= set(state):
        raise broken(path, "expected a SciPy CSR matrix")
    data, indices, indptr = (
        _rebuilt_array(path, state[key]) for key in ("data", "indices", "indptr")
    )
    shape = state["_shape"]
    if not _is_shape(shape, 2) or not consistent_csr(data, indices, indptr, shape):
        raise broken(path, "its CSR matrix is inconsistent")
    return sp.csr_matrix((data, indices, indptr), shape=shape)


def read_adjacency(path: Path) -> dict[int, list[int]]:
    """Return the neighbour lists pickled in ``path``."""
    lists = _load(path, file_bytes(path))
    if not isinstance(lists, dict) or not all(
        type(node) is int and type(row) is list and all(type(other) is int for other in row)
        for node, row in lists.items()
    ):
        raise broken(path, "expected a dictionary from node to list of nodes")
    return dict(lists)


def _load(path: Path, data: bytes) -> Any:
    try:
        _check_opcodes(data)
        return _Unpickler(io.BytesIO(data), encoding="latin1").load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, KeyError) as error:
        raise broken(path, f"not a pickle of arrays ({error})") from error
    except (AttributeError, IndexError, OverflowError, RecursionError, MemoryError) as error:
        raise broken(path, f"not a pickle of arrays ({type(error).__name__})") from error


def _check_opcodes(data: bytes) -> None:
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name not in _OPCODES:
            raise pickle.UnpicklingError(f"opcode {opcode.name} has no place in it")
        # The unpickler allocates its memo up to the largest key.
        if opcode.name in _MEMO_WRITES and int(argument or 0) > len(data):
            raise pickle.UnpicklingError(f"memo key {argument} is out of proportion")


def _rebuilt_array(path: Path, stub: Any) -> NDArray[Any]:
    state = stub.state if isinstance(stub, _Array) else None
    if not isinstance(state, tuple) or len(state) != 5:
        raise broken(path, "expected a NumPy array")
    _, shape, dtype, column_major, content = state
    code = _dtype_code(dtype)
    if code is None or not _is_shape(shape) or not isinstance(content, str | bytes):
        raise broken(path, "its NumPy array has an unexpected type")
    raw = content.encode("latin1") if isinstance(content, str) else content
    if math.prod(shape) * code.itemsize != len(raw):
        raise broken(path, f"its NumPy array of shape {shape} comes with {len(raw)} bytes")
    return np.frombuffer(raw, code).reshape(shape, order="F" if column_major else "C")


def _dtype_code(stub: Any) -> np.dtype[Any] | None:
    if not isinstance(stub, _Dtype) or not stub.made_with or not isinstance(stub.state, tuple):
        return None
    kind, order = stub.made_with[0], stub.state[1:2]
    if not isinstance(kind, str) or kind not in _DTYPES or order not in (("<",), (">",), ("|",)):
        return None
    return np.dtype(f"{order[0]}{kind}")


def _is_shape(shape: Any, length: int | None = None) -> bool:
    return (
        isinstance(shape, tuple)
        and len(shape) in ({1, 2} if length is None else {length})
        and all(type(size) is int and size >= 0 for size in shape)
    )
