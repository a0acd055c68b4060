"""Loaded by mutmut alone: lets mutmut 3.8 run under pytest 9.2, which has renamed an attribute."""

from __future__ import annotations

import pytest

if not hasattr(pytest.Item, "_nodeid"):
    pytest.Item._nodeid = property(lambda item: item.nodeid)  # type: ignore[attr-defined]
