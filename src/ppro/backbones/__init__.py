"""The graph neural networks that PPro can control, one file each."""

from typing import Literal

from ppro.backbones.appnp import APPNP
from ppro.backbones.base import Backbone
from ppro.backbones.gat import GAT
from ppro.backbones.gcn import GCN
from ppro.backbones.gcnii import GCNII
from ppro.backbones.grand import GRAND
from ppro.backbones.sgc import SGC

BackboneName = Literal["appnp", "gat", "gcn", "gcnii", "grand", "sgc"]

BACKBONES: dict[BackboneName, type[Backbone]] = {
    "appnp": APPNP,
    "gat": GAT,
    "gcn": GCN,
    "gcnii": GCNII,
    "grand": GRAND,
    "sgc": SGC,
}

__all__ = ["APPNP", "BACKBONES", "GAT", "GCN", "GCNII", "GRAND", "SGC", "Backbone", "BackboneName"]
