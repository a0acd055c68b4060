"""Graphs too large for memory: a folder of arrays, written block by block and read by mapping."""

from ppro.data.large.generate import LargePlan, generate_large
from ppro.data.large.reading import is_large_folder, read_large
from ppro.data.large.store import META

__all__ = ["META", "LargePlan", "generate_large", "is_large_folder", "read_large"]
