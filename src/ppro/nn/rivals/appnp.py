"""APPNP as it was published."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ppro.nn.backbones import Backbone
from ppro.nn.backbones import appnp as backbones
from ppro.nn.rivals.bare import BareBackbone
from ppro.parts.choices import Kind
from ppro.settings.space import Space, usual


class APPNP(BareBackbone):
    """Predict then propagate (Klicpera et al., 2019): h_k = (1-α) Â h_{k-1} + α h_0.

    Class scores propagate: h0 = drop(ReLU(drop(X) W1 + b1)) W2 + b2, and ŷ = softmax(h_L). The
    original drops entries of Â too, anew in each step; ``edge_dropout`` drops them once a pass.
    """

    name: ClassVar[str] = "appnp"
    title: ClassVar[str] = "APPNP"
    made_of: ClassVar[type[Backbone]] = backbones.APPNP
    fixed: ClassVar[Mapping[str, Any]] = {"form": "class"}
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=(
                {"max_steps": 10, "hidden": 64, "alpha": 0.1},
                {"max_steps": 10, "hidden": 64, "alpha": 0.2},
                {"max_steps": 20, "hidden": 64, "alpha": 0.1},
            ),
            values={
                "dropout": (0.5, 0.6, 0.8),
                "edge_dropout": (0.5, 0.0),
                "weight_decay": (5e-3, 5e-4, 1e-2),
                "lr": (0.01, 0.05),
            },
        ),
        "heterophilous": Space(
            shapes=(
                {"max_steps": 10, "hidden": 64, "alpha": 0.1, "feature_norm": "none"},
                {"max_steps": 10, "hidden": 64, "alpha": 0.5, "feature_norm": "none"},
                {"max_steps": 10, "hidden": 64, "alpha": 0.9, "feature_norm": "none"},
                {
                    **{"max_steps": 2, "hidden": 64, "alpha": 0.1, "feature_norm": "none"},
                    "self_loops": False,
                },
            ),
            values=usual((0.5, 0.2, 0.8), (5e-3, 5e-4, 1e-5), (0.01, 0.005, 0.05)),
        ),
    }
