"""The rivals: networks that PPro is compared with, each in a file of its own.

``base`` is what rivals share, ``predictor`` what ``gprgnn`` and ``dagnn`` share, ``bare`` makes a
rival of a backbone: ``appnp``, ``gcnii``, ``gcnii_star``, ``residual`` and ``sgc``. ``gcn``,
``gat``, ``jknet``, ``jknet_drop``, ``h2gcn``, ``mlp`` and ``l2p`` stand alone; ``geom_gcn`` rests
on ``isomap``. The trainer knows none of them by name.
"""

from ppro.nn.rivals.base import Baseline

__all__ = ["Baseline"]
