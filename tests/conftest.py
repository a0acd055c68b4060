"""For all tests."""

from __future__ import annotations

import signal

# A test run started in the background of a shell ignores Ctrl-C, and so would all it starts; the
# tests that interrupt something rely on the usual answer.
signal.signal(signal.SIGINT, signal.default_int_handler)
