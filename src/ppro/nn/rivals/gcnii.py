"""GCNII as it was published."""

from collections.abc import Mapping
from typing import ClassVar

from ppro.nn.backbones import Backbone
from ppro.nn.backbones import gcnii as backbones
from ppro.nn.rivals.bare import BareBackbone
from ppro.parts.choices import Kind
from ppro.settings.space import Space, usual

_SHAPE = {"hidden": 64, "decay": "all"}
"""All weights decay: those of the steps by ``step_decay``, the outer ones by ``weight_decay``."""


class GCNII(BareBackbone):
    """Initial residual and identity mapping (Chen et al., 2020).

    h_k = ReLU(((1-α) Â drop(h_{k-1}) + α h_0) ((1-β_k) I + β_k W_k)), β_k = log(λ/k + 1).
    """

    name: ClassVar[str] = "gcnii"
    title: ClassVar[str] = "GCNII"
    made_of: ClassVar[type[Backbone]] = backbones.GCNII
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=(
                {"max_steps": 64, "alpha": 0.1, "gcnii_lambda": 0.5, **_SHAPE},
                {"max_steps": 32, "alpha": 0.1, "gcnii_lambda": 0.6, **_SHAPE},
                {"max_steps": 16, "alpha": 0.1, "gcnii_lambda": 0.4, **_SHAPE},
            ),
            values={
                "dropout": (0.6, 0.5, 0.7),
                "step_decay": (0.01, 5e-4),
                "weight_decay": (5e-4, 1e-3),
                "lr": (0.01, 0.005),
            },
        ),
        "heterophilous": Space(
            shapes=(
                {
                    **{"max_steps": 8, "alpha": 0.5, "gcnii_lambda": 1.0, **_SHAPE},
                    "feature_norm": "none",
                },
                {
                    **{"max_steps": 4, "alpha": 0.5, "gcnii_lambda": 1.5, **_SHAPE},
                    "feature_norm": "row",
                },
                {
                    **{"max_steps": 8, "alpha": 0.2, "gcnii_lambda": 1.5, **_SHAPE},
                    **{"feature_norm": "none", "self_loops": False},
                },
                {
                    **{"max_steps": 2, "alpha": 0.5, "gcnii_lambda": 1.5, **_SHAPE},
                    "feature_norm": "none",
                },
            ),
            values=usual((0.5, 0.2, 0.7), (5e-4, 1e-4, 1e-3), (0.01, 0.005, 0.05)),
        ),
    }
