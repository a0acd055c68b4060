"""The errors of pydantic in one line each, with a remedy."""

from collections.abc import Sequence

from pydantic import ValidationError

from ppro.parts import nearest

LONGEST = 80
"""Characters that are shown of a value."""


def explain(error: ValidationError, where: str, valid: Sequence[str], inside: str = "") -> str:
    """Return the first problem of an error in one line.

    Args:
        where: the file or option that the values came from.
        valid: the keys that there are.
        inside: the table of the file that the values stand in, if any.
    """
    problem = error.errors()[0]
    path = [part for part in (inside, *map(str, problem["loc"])) if part]
    key = ".".join(path) or "settings"
    if problem["type"] == "extra_forbidden":
        return f"{where}: unknown key '{key}'; {nearest(path[-1], valid)}"
    if problem["type"] == "missing":
        return f"{where}: the key '{key}' is missing; add it"
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "value_error":
        # Ours, said in full; what is wrong with settings together is told by no value of one.
        message = str(problem["ctx"]["error"])
        if not problem["loc"]:
            return f"{where}: {message}"
    given = repr(problem["input"])
    given = given if len(given) <= LONGEST else f"{given[:LONGEST]} …"
    return f"{where}: {key}: {message[0].lower()}{message[1:]} (got {given})"
