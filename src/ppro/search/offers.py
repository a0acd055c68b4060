"""What the search of a table is offered: a space by its name, at one depth where that is the point.

Results of another offer lie in a folder of their own, so that searches of different spaces never
meet.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ppro.errors import SettingsError
from ppro.parts import nearest
from ppro.parts.choices import Kind
from ppro.search import table_spaces
from ppro.search.grid import PAPER, grid_of
from ppro.search.methods import Method
from ppro.settings.settings import Settings
from ppro.settings.space import Space, draw_in_turns

OWN = "own"
"""The space that a method carries for graphs of a kind."""
BACKBONES, DEPTH = "backbones", "depth"
"""The spaces of Tables 3 and 4."""
DESIGN, ACTOR = "design", "actor"
"""The paper's design, APPNP without consistency; and what suits Actor."""
NAMES = (OWN, PAPER, BACKBONES, DEPTH, DESIGN, ACTOR)
_OF_TABLES: Mapping[str, Callable[[Method, Kind], tuple[Space, ...]]] = {
    BACKBONES: table_spaces.backbones,
    DESIGN: table_spaces.design,
    ACTOR: table_spaces.actor,
}


@dataclass(frozen=True)
class Offer:
    """A space by its name.

    Args:
        space: one of :data:`NAMES`.
        steps: the depth of every configuration, or None where the space says it.
    """

    space: str = OWN
    steps: int | None = None

    @property
    def folder(self) -> str:
        """Return where results of this offer lie below those of searches or cells."""
        if self == Offer():
            return ""
        return f"{self.space}/" if self.steps is None else f"{self.space}-{self.steps}/"

    def named(self, space: str | None) -> "Offer":
        """Return the offer of another space at the same depth, or this one where None."""
        return self if space is None else replace(self, space=space)

    def spaces(self, method: Method, kind: Kind) -> tuple[Space, ...]:
        """Return what a search of a method draws from."""
        if self.space in _OF_TABLES:
            return _OF_TABLES[self.space](method, kind)
        if self.space == DEPTH and self.steps is not None:
            return table_spaces.depth(method, kind, self.steps)
        found = (grid_of(method, kind),) if self.space == PAPER else method.spaces(kind)
        if self.steps is None:
            return found
        return tuple(table_spaces.of_depth(space, self.steps) for space in found)

    def candidates(self, method: Method, kind: Kind, number: int) -> list[Settings]:
        """Return the settings that a search of ``number`` configurations tries."""
        if self == Offer():
            return method.candidates(kind, number)
        drawn = draw_in_turns(self.spaces(method, kind), number)
        return [Settings.read({**method.settings, **changes}) for changes in drawn]

    def size(self, method: Method, kind: Kind) -> int:
        """Return how many different configurations there are to draw from."""
        return sum(space.size() for space in self.spaces(method, kind))


USUAL = Offer()
"""What most tables offer: the space that a method carries."""


def check_space(name: str | None) -> str | None:
    """Return the name of a space that any table can be searched in, or None for its own.

    Raises:
        SettingsError: there is none of that name.
    """
    known = (OWN, PAPER)
    if name is not None and name not in known:
        hint = nearest(name, known)
        raise SettingsError(f"--space {name}: no table can be searched in it; {hint}")
    return None if name == OWN else name
