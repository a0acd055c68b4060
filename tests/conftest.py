"""For all tests."""

from __future__ import annotations

import os
import signal

import pytest

# A test run started in the background of a shell ignores Ctrl-C, and so would all it starts; the
# tests that interrupt something rely on the usual answer.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests of the paper's graphs need a folder that holds them."""
    if item.get_closest_marker("data") and not os.environ.get("PPRO_DATA"):
        pytest.skip("PPRO_DATA is not set: no folder with the paper's graphs")
