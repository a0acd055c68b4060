"""How a node gets its number of steps, one strategy to a file.

``base`` says what a strategy is and what it may ask of a pass; ``learn_to_break`` is L2B,
``learn_to_update`` L2U, ``full_depth`` the bare backbone, and ``given`` takes steps that are known
before. A strategy owns its rule of selection, its loss, its words in explanations and its choices
in a search; parameters live elsewhere.
"""

from ppro.nn.strategies.base import Ahead, Chance, Path, Strategy, View

__all__ = ["Ahead", "Chance", "Path", "Strategy", "View"]
