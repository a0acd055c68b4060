"""The graph neural networks that PPro can control, one file each.

``base`` says what PPro asks of one: an initial embedding, a step, a classifier. ``hidden`` is what
``gcn``, ``gcnii`` and ``gat`` share; ``gcn_scores`` and ``gat_scores`` carry class scores, so that
one step is the original network; ``appnp``, ``grand`` and ``sgc`` are linear between h_0 and the
classifier. ``residual`` is what the normalised ``res_gcn``, ``res_sage`` and ``res_gat`` share;
``pyg`` takes any model of PyTorch Geometric. ``spaces`` and ``residual_spaces`` say what a search
of each may choose from. No controller lives here.
"""

from ppro.nn.backbones.base import Backbone, LinearBackbone

__all__ = ["Backbone", "LinearBackbone"]
