"""A few files for every reader; ``make fuzz`` goes on for ten minutes."""

from __future__ import annotations

import pytest

from tests.hostile.fuzz import READERS, fuzz


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_returns_a_graph_or_says_why_not(reader: str) -> None:
    fuzz(reader, 40, 1)
