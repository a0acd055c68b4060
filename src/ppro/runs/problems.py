"""Problems with the files of a run folder, in one line each."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from ppro.errors import RunError
from ppro.files import check_regular

LONGEST = 200
"""Characters that are shown of what is wrong with a content."""
DAMAGE = (
    *(ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError),
    *(RecursionError, csv.Error, SafetensorError),
)
"""What goes wrong with content that is not what it should be."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Tell what is wrong with a file that is read in the block; a pipe or a device is refused.

    Raises:
        RunError: it is missing, cannot be read, or is damaged.
    """
    try:
        check_regular(path)
        yield
    except FileNotFoundError:
        raise RunError(f"{path}: missing; train again") from None
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise RunError(f"{path}: {reason}; make it readable") from None
    except DAMAGE as error:
        reason = " ".join(str(error).split())[:LONGEST] or type(error).__name__
        raise RunError(f"{path}: damaged ({reason}); train again") from None
