"""Arrays as short text: little-endian bytes in base64, with the name of their type."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

TYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i16": "<i2", "f32": "<f4"}
"""Names that the page knows, and the types they stand for."""

PRECISE = 2_000_000
"""Up to this many shares are stored in 16 bits each, more of them in 8."""


def pack(values: NDArray[Any], kind: str) -> dict[str, str]:
    """Return an array as the page reads it."""
    data = np.ascontiguousarray(values).astype(TYPES[kind])
    return {"type": kind, "data": base64.b64encode(data.tobytes()).decode("ascii")}


def pack_whole(values: NDArray[Any]) -> dict[str, str]:
    """Pack whole numbers from 0 on, in as few bytes as they need."""
    top = int(values.max(initial=0))
    return pack(values, "u8" if top < 2**8 else "u16" if top < 2**16 else "u32")


def pack_shares(values: NDArray[Any]) -> dict[str, str]:
    """Pack numbers in [0, 1], rounded to 1/65535, or to 1/255 where there are very many."""
    kind, most = ("u16", 65535) if values.size <= PRECISE else ("u8", 255)
    return pack(np.rint(values * most), kind)


def pack_coarse(values: NDArray[Any]) -> dict[str, str]:
    """Pack numbers in [0, 1], rounded to 1/255, which is enough to read them as percent."""
    return pack(np.rint(values.clip(0, 1) * 255), "u8")
