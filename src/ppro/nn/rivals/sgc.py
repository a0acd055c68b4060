"""SGC as it was published."""

from collections.abc import Mapping
from typing import ClassVar

from ppro.nn.backbones import Backbone
from ppro.nn.backbones import sgc as backbones
from ppro.nn.rivals.bare import BareBackbone
from ppro.parts.choices import Kind
from ppro.settings.space import Space, usual


class SGC(BareBackbone):
    """Simple graph convolution (Wu et al., 2019): ŷ = softmax(Â^L X W + b)."""

    name: ClassVar[str] = "sgc"
    title: ClassVar[str] = "SGC"
    made_of: ClassVar[type[Backbone]] = backbones.SGC
    spaces: ClassVar[Mapping[Kind, Space]] = {
        "homophilous": Space(
            shapes=({"max_steps": 2}, {"max_steps": 3}, {"max_steps": 4}),
            values=usual((0.0, 0.5), (1e-5, 5e-6, 1e-4, 5e-4), (0.2, 0.05, 0.01)),
        ),
        "heterophilous": Space(
            shapes=(
                {"max_steps": 2, "feature_norm": "row"},
                {"max_steps": 2, "feature_norm": "none"},
                {"max_steps": 1, "feature_norm": "none"},
                {"max_steps": 2, "feature_norm": "none", "self_loops": False},
            ),
            values=usual((0.0, 0.5), (1e-5, 1e-4, 1e-3), (0.2, 0.05, 0.01)),
        ),
    }
