"""The graph neural networks that PPro can control, one file each."""

from ppro.backbones.appnp import APPNP
from ppro.backbones.base import Backbone

__all__ = ["APPNP", "Backbone"]
