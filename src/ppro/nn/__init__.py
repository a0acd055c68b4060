"""The paper: priorities, controllers, strategies, losses, PPro itself, its backbones and rivals.

``PPro`` is the module for a training loop of one's own, in ``module``; ``module_inputs``,
``module_backbone``, ``module_influence``, ``module_checks`` and ``module_settings`` are its parts.
``batched`` is the same network for many runs at once, which ``fit`` trains: ``forward_pass`` is
lines 3 to 8 of Algorithm 1, ``looking_ahead`` several of its steps at once, ``losses`` has one
function per equation, ``controllers`` and ``controller_blocks`` are F_p and F_w, ``priority`` and
``strategies`` what they see and decide; ``comparing`` has controllers that compare steps, beside
the paper's. ``network`` says what a trainer asks of any network, ``wrapped`` what one around a
backbone answers; ``large_inputs`` prepares large graphs for one; ``part`` is what ``backbones`` and
``rivals`` have in common. No optimiser, no epoch and no file lives here.
"""

from typing import TYPE_CHECKING

from ppro.parts.lazy import lazy

if TYPE_CHECKING:
    from ppro.nn.module import PPro
    from ppro.nn.module_influence import influence

__all__ = ["PPro", "influence"]

__getattr__ = lazy(
    __name__, {"ppro.nn.module": ["PPro"], "ppro.nn.module_influence": ["influence"]}
)
