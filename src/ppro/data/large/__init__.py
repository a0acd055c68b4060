"""Graphs too large for memory: a folder of arrays, written block by block and read by mapping.

``plan`` says what ``generate`` makes; ``store`` knows the files of a folder, ``reading`` maps them
after the ``checks`` of edges, labels and features. Nothing here holds all features in memory.
"""

from typing import TYPE_CHECKING

from ppro.data.large.plan import LargePlan
from ppro.parts.lazy import lazy

if TYPE_CHECKING:
    from ppro.data.large.generate import generate_large
    from ppro.data.large.reading import is_large_folder, read_large
    from ppro.data.large.store import META

__all__ = ["META", "LargePlan", "generate_large", "is_large_folder", "read_large"]

__getattr__ = lazy(
    __name__,
    {
        "ppro.data.large.generate": ("generate_large",),
        "ppro.data.large.reading": ("is_large_folder", "read_large"),
        "ppro.data.large.store": ("META",),
    },
)
