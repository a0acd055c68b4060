from __future__ import annotations

from tests.cli.conftest import ppro as ppro
from tests.cli.conftest import workplace as workplace
