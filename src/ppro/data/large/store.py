"""The folder of a large graph: which arrays it holds, and how they are written and opened.

==============  =======  ==========  ===========================================================
file            type     shape       content
==============  =======  ==========  ===========================================================
features.npy    float32  ``[n, f]``  one row per node
indptr.npy      int64    ``[n + 1]`` where the neighbours of a node begin in ``indices``
indices.npy     int32    ``[E]``     neighbours, both directions, sorted in each row, no self-loop
labels.npy      int32    ``[n]``     class of each node, -1 where it is not known
split.npy       uint8    ``[n]``     0 no part, 1 training, 2 validation, 3 test; may be missing
meta.json                            format, sizes, class names, the bytes of each file
==============  =======  ==========  ===========================================================
"""

import json
from collections.abc import Iterable
from pathlib import Path
from tokenize import TokenError
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ppro.errors import DataError
from ppro.files import check_regular, read_text

META = "meta.json"
SPLIT = "split.npy"
ARRAYS: dict[str, DTypeLike] = {
    "features.npy": np.float32,
    "indptr.npy": np.int64,
    "indices.npy": np.int32,
    "labels.npy": np.int32,
    SPLIT: np.uint8,
}
PARTS = {"train": 1, "val": 2, "test": 3}
"""What a number of ``split.npy`` stands for; 0 is no part."""

_MOST_META = 2**20


class Meta(BaseModel):
    """What ``meta.json`` says of the other files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["ppro-large-graph"] = "ppro-large-graph"
    version: Literal[1] = 1
    nodes: int = Field(ge=1, lt=2**31)
    entries: int = Field(ge=0, description="stored neighbours: twice the edges")
    features: int = Field(ge=1)
    class_names: tuple[str, ...] = Field(min_length=2)
    bytes: dict[str, int] = Field(description="the size of each file")
    made_with: dict[str, float] = Field(default_factory=dict, description="of a generated graph")

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape that an array must have."""
        return {
            "features.npy": (self.nodes, self.features),
            "indptr.npy": (self.nodes + 1,),
            "indices.npy": (self.entries,),
        }.get(name, (self.nodes,))


def write_array(
    path: Path, shape: tuple[int, ...], dtype: DTypeLike, blocks: Iterable[NDArray[Any]]
) -> None:
    """Write an ``.npy`` file from blocks of its rows, one after the other."""
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype).data)


def write_meta(folder: Path, meta: Meta) -> Meta:
    """Write ``meta.json``, the last file of a folder, with the sizes of the others; return it."""
    sizes = {name: (folder / name).stat().st_size for name in ARRAYS if (folder / name).exists()}
    complete = meta.model_copy(update={"bytes": sizes})
    text = json.dumps(complete.model_dump(), indent=2)
    (folder / META).write_text(text + "\n", encoding="utf-8")
    return complete


def read_meta(folder: Path) -> Meta:
    """Read ``meta.json`` and check that the files are there in their full sizes."""
    path = folder / META
    try:
        if path.stat().st_size > _MOST_META:
            raise DataError(f"{path}: too large to be the description of a graph; make it again")
        meta = Meta.model_validate_json(read_text(path, _MOST_META))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; give a folder that holds it") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: damaged (not UTF-8); make it again") from None
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or "content"
        raise DataError(
            f"{path}: damaged, or of another version ({where}: {problem['msg']}); make it again"
        ) from None
    for name in ARRAYS.keys() - {SPLIT} | meta.bytes.keys():
        _check_size(folder / name, meta.bytes.get(name))
    return meta


def _check_size(path: Path, expected: int | None) -> None:
    if path.name not in ARRAYS or expected is None:
        raise DataError(f"{path}: {META} does not list the right files; make the folder again")
    try:
        found = path.stat().st_size
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; make the folder again") from None
    if found != expected:
        raise DataError(
            f"{path}: {found:,} bytes, but {META} says {expected:,}; copy or make it again"
        )


def open_array(folder: Path, name: str, meta: Meta) -> np.memmap[Any, Any]:
    """Map an array of a folder into memory, its type and shape checked, its values not.

    Pages come in when they are touched. The mapping is private: what is written stays in memory.
    """
    path = folder / name
    try:
        check_regular(path)
        found = np.load(path, mmap_mode="c", allow_pickle=False)
    except (OSError, ValueError, SyntaxError, TypeError, TokenError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: not a readable .npy file ({reason}); make it again") from None
    shape, dtype = meta.shape(name), np.dtype(ARRAYS[name])
    mapped = isinstance(found, np.memmap) and found.flags.c_contiguous
    if not mapped or found.shape != shape or found.dtype != dtype:
        got = f"{found.dtype} of shape {found.shape}"
        raise DataError(f"{path}: {got}, expected {dtype} of shape {shape}, by rows; make it again")
    mapping: np.memmap[Any, Any] = found
    return mapping
