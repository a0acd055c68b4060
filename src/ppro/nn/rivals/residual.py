"""The strong plain networks of "Classic GNNs are strong baselines" (Luo et al., 2024)."""

from collections.abc import Mapping
from typing import ClassVar

from ppro.nn.backbones import Backbone, residual_spaces
from ppro.nn.backbones import res_gat as gat
from ppro.nn.backbones import res_gcn as gcn
from ppro.nn.backbones import res_sage as sage
from ppro.nn.rivals.bare import BareBackbone
from ppro.parts.choices import Kind
from ppro.settings.space import Space


class ResGCN(BareBackbone):
    """GCN: h_k = ReLU(N_k(Â drop(h_{k-1}) W_k + drop(h_{k-1}) V_k + b_k)), N_k a normalisation."""

    name: ClassVar[str] = "res-gcn"
    title: ClassVar[str] = "residual GCN"
    made_of: ClassVar[type[Backbone]] = gcn.ResGCN
    spaces: ClassVar[Mapping[Kind, Space]] = residual_spaces.RIVAL


class ResSAGE(BareBackbone):
    """GraphSAGE with normalised layers: the same with the mean over the neighbours for Â."""

    name: ClassVar[str] = "res-sage"
    title: ClassVar[str] = "residual SAGE"
    made_of: ClassVar[type[Backbone]] = sage.ResSAGE
    spaces: ClassVar[Mapping[Kind, Space]] = residual_spaces.RIVAL


class ResGAT(BareBackbone):
    """GAT with normalised layers and a way past each: the same with attention for Â."""

    name: ClassVar[str] = "res-gat"
    title: ClassVar[str] = "residual GAT"
    made_of: ClassVar[type[Backbone]] = gat.ResGAT
    spaces: ClassVar[Mapping[Kind, Space]] = residual_spaces.RIVAL
