"""SGC: a linear classifier of propagated features."""

from typing import ClassVar

from torch import Tensor, nn

from ppro.compute.features import Features
from ppro.compute.layers import glorot, zeros
from ppro.compute.noise import Noise
from ppro.nn.backbones.base import LinearBackbone
from ppro.nn.part import NetworkSizes
from ppro.settings.groups import NetworkSettings


class SGC(LinearBackbone):
    """Simple graph convolution (Wu et al., 2019): ŷ = softmax(Â^L X W + b).

    Class scores propagate, h0 = drop(X) W and h_k = Â h_{k-1}, which is the same product from the
    cheaper end. The original drops nothing: set ``dropout`` to 0 for it.
    """

    name: ClassVar[str] = "sgc"
    title: ClassVar[str] = "SGC"
    shareable: ClassVar[bool] = True

    alpha: float = 0.0

    def __init__(self, sizes: NetworkSizes, own: NetworkSettings) -> None:
        super().__init__()
        self.width = sizes.classes
        self.weight = glorot(sizes.rngs, sizes.features, sizes.classes)
        self.bias = zeros(sizes.rngs, sizes.classes)

    @classmethod
    def takes_blocks(cls, settings: NetworkSettings) -> bool:
        """Class scores are made row by row, and they alone propagate."""
        return True

    def embed(self, x: Features, noise: Noise | None) -> Tensor:
        """drop(X) W."""
        return x.linear(self.weight, noise)

    def classify(self, h: Tensor, h0: Tensor, rows: Tensor, noise: Noise | None) -> Tensor:
        """h + b."""
        return h + self.bias.unsqueeze(1)

    def decayed(self) -> list[nn.Parameter]:
        """W."""
        return [self.weight]
