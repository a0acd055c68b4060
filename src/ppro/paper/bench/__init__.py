"""Speed and memory, measured against PyTorch Geometric in one run on the machine at hand."""

from ppro.paper.bench.cases import Case, cases
from ppro.paper.bench.measure import measure

__all__ = ["Case", "cases", "measure"]
