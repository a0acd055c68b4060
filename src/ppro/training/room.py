"""Whether a training that nobody would wait for is about to fill the memory of the machine."""

import math
import re
from collections.abc import Sequence

from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.assembly import OwnBackbone, parameter_shapes
from ppro.training.judges import networks_of
from ppro.training.memory import GIB, Sizes, available, estimate

COPIES = 6
"""Of a parameter: itself, its gradient, two moments of Adam, the best state and the one given."""
DOUBT = 2.0
"""An estimate may be so many times too large: up to there a training is tried."""
REMEDY = "train fewer --runs at a time, or set a smaller hidden or max_steps"


def check_room(graph: Graph, settings: Sequence[Settings], own: OwnBackbone | None = None) -> None:
    """Refuse a training on a CPU that cannot end well: the system would kill it without a word.

    Raises:
        SettingsError: with the estimate, what is free, and what to do.
    """
    room = available()
    if room is None:
        return
    sizes, runs = Sizes.of(graph), len(settings)
    needed = estimate(sizes, settings[0], runs).total
    if own is None:
        shapes = parameter_shapes(sizes.features, sizes.classes, settings[0])
        numbers = sum(math.prod(shape) for shape in shapes.values())
        needed += 4.0 * COPIES * numbers * runs * networks_of(settings[0])
    if needed > DOUBT * room:
        raise SettingsError(
            f"{graph.name} needs about {needed / GIB:.1f} GiB of memory, but {room / GIB:.1f} GiB "
            f"are free; {REMEDY}"
        )


def out_of_memory(error: BaseException) -> str | None:
    """Return one line about an error that says that memory has run out; None for any other."""
    text = str(error)
    asked = re.search(r"tried to allocate (\d+) bytes|Unable to allocate ([\d.]+ \w+)", text)
    known = isinstance(error, MemoryError) or "can't allocate memory" in text
    if not known and not (asked and isinstance(error, RuntimeError)):
        return None
    wanted = ""
    if asked:
        size = f"{int(asked[1]) / GIB:.1f} GiB" if asked[1] else asked[2]
        wanted = f"{size} more were asked for, "
    room = available()
    free = "" if room is None else f"{room / GIB:.1f} GiB are free"
    told = f" ({wanted}{free})" if wanted or free else ""
    return f"out of memory{told}; {REMEDY}"
