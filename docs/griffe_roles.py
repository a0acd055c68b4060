"""Docstrings name other objects by Sphinx roles; the API pages show them as plain code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`~?([^`]+)`")


class PlainRoles(Extension):
    """``:meth:`fit``` becomes ```fit```."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of every object that griffe has read."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(r"`\1`", obj.docstring.value)
