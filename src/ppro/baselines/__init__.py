"""The rivals: networks that PPro is compared with, each in a file of its own."""

from typing import Literal

from ppro.baselines.appnp import APPNP
from ppro.baselines.base import Baseline
from ppro.baselines.dagnn import DAGNN
from ppro.baselines.gat import GAT
from ppro.baselines.gcn import GCN
from ppro.baselines.gcnii import GCNII
from ppro.baselines.gcnii_star import GCNIIStar
from ppro.baselines.geom_gcn import GeomGCN
from ppro.baselines.gprgnn import GPRGNN
from ppro.baselines.h2gcn import H2GCN
from ppro.baselines.jknet import JKNet
from ppro.baselines.jknet_drop import JKNetDrop
from ppro.baselines.l2p import L2Q, L2S
from ppro.baselines.mlp import MLP
from ppro.baselines.sgc import SGC
from ppro.network import Network

ModelName = Literal[
    "ppro",
    "appnp",
    "dagnn",
    "gat",
    "gcn",
    "gcnii",
    "gcnii-star",
    "geom-gcn",
    "gprgnn",
    "h2gcn",
    "jknet",
    "jknet-drop",
    "l2q",
    "l2s",
    "mlp",
    "sgc",
]

BASELINES: dict[str, type[Network]] = {
    "appnp": APPNP,
    "dagnn": DAGNN,
    "gat": GAT,
    "gcn": GCN,
    "gcnii": GCNII,
    "gcnii-star": GCNIIStar,
    "geom-gcn": GeomGCN,
    "gprgnn": GPRGNN,
    "h2gcn": H2GCN,
    "jknet": JKNet,
    "jknet-drop": JKNetDrop,
    "l2q": L2Q,
    "l2s": L2S,
    "mlp": MLP,
    "sgc": SGC,
}

__all__ = ["BASELINES", "Baseline", "ModelName"]
