"""The rivals: networks that PPro is compared with, each in a file of its own."""

from typing import Literal

from ppro.baselines.base import Baseline
from ppro.baselines.gcn import GCN
from ppro.baselines.mlp import MLP

ModelName = Literal["ppro", "gcn", "mlp"]

BASELINES: dict[str, type[Baseline]] = {"gcn": GCN, "mlp": MLP}

__all__ = ["BASELINES", "Baseline", "ModelName"]
