"""The options of a graph, ``key=value``: those of its generator, and those that any graph has."""

from collections.abc import Mapping

from ppro.data.records import DatasetInfo, Option
from ppro.errors import DataError
from ppro.parts import nearest

NOISE = "noise"
ANY_GRAPH: dict[str, Option] = {NOISE: Option(0.0, 0.0, 1.0)}
"""What any graph takes: ``noise`` is the share of its nodes that get random edges."""


def checked_options(
    name: str, given: Mapping[str, float | str], info: DatasetInfo | None = None
) -> dict[str, float]:
    """Return the options that were given, as numbers.

    Args:
        name: of the graph, for messages.
        given: numbers, or what a user typed.
        info: the record of the graph; None for one from files.

    Raises:
        DataError: an option is unknown, or its value out of range.
    """
    own = {} if info is None or info.generator is None else info.generator.options
    known = {**ANY_GRAPH, **own}
    found = {}
    for key, value in given.items():
        if key not in known:
            raise DataError(f"{name}: unknown option {key!r}; {nearest(key, tuple(known))}")
        if problem := known[key].problem(value):
            raise DataError(f"{name}: {key} {problem}")
        found[key] = known[key].number(value)
    return found


def own_and_any(
    info: DatasetInfo, options: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the value of every option of a generator, and the given ones that any graph has."""
    own = info.options
    kept = {key: value for key, value in options.items() if key in own}
    return {**own, **kept}, {key: value for key, value in options.items() if key not in own}
