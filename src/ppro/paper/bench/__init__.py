"""Speed and memory, measured against PyTorch Geometric in one run on the machine at hand.

``cases`` says what is measured, ``measure`` times it beside ``peer``, whose networks are in
``peer_nets``; ``counted`` counts what it does, ``floor`` what it must do at least, ``memory`` reads
its peak; ``machine`` keeps what was measured, ``tables`` and ``render`` make a page of it.
``large`` trains on graphs on disk, ``distributed`` and ``rank_worker`` on several ranks;
``cost`` foretells other sizes, which ``scale_page`` and ``scale_ranks`` show. ``markdown`` is what
its tables share. Nothing here is needed for training.
"""

from ppro.paper.bench.cases import Case, cases, judged_cases
from ppro.paper.bench.measure import measure

__all__ = ["Case", "cases", "judged_cases", "measure"]
