"""The methods that are compared and searched, by name: every rival, and PPro on every backbone.

Nothing is listed here. Titles, notes and spaces come from the classes, so that a part which a
user's script registers is a method too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ppro.errors import SettingsError
from ppro.parts import BACKBONES, RIVALS, STRATEGIES, nearest
from ppro.parts.choices import Kind
from ppro.settings.settings import PPRO, Settings
from ppro.settings.space import Configuration, Space, Values, draw_in_turns

WIDER = 3
"""A wide search tries so many times the configurations of another."""
USUAL = "appnp"
"""The paper's own backbone: on it, PPro goes by the strategy's name alone."""
ALONE = "none"
_CONSISTENCY: Values = {
    "consistency": (1.0, 0.3, 0.1),
    "consistency_temperature": (0.5, 0.3),
    "node_dropout": (0.5,),
    "dropout": (0.2, 0.5, 0.8),
    "weight_decay": (1e-3, 5e-4, 5e-3),
}


_FADING: Values = {"fading": (2.0, 1.0)}


@dataclass(frozen=True)
class Method:
    """A method of a table.

    Args:
        name: what commands and result files call it.
        title: what a table calls it.
        settings: what makes it this method, whatever the search chooses.
        note: what a reader of its numbers must know.
        consistent: whether forwards under dropout must agree on all nodes besides.
        fades: whether the loss of labels fades besides, as their error falls.
        wide: whether its search is of more shapes, and of as many more configurations.
    """

    name: str
    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    consistent: bool = False
    fades: bool = False
    wide: bool = False

    @property
    def for_few_labels(self) -> bool:
        """Whether it always learns from nodes without labels, which heterophilous graphs lack."""
        return self.consistent or "consistency" in self._part.spaces["heterophilous"].values

    def candidates(self, kind: Kind, number: int) -> list[Settings]:
        """Return the settings that a search of ``number`` configurations tries."""
        drawn = self.configurations(kind, number)
        return [Settings.read({**self.settings, **changes}) for changes in drawn]

    def configurations(self, kind: Kind, number: int) -> list[Configuration]:
        """Return what a search of ``number`` configurations tries; a wide one takes more."""
        return draw_in_turns(self.spaces(kind), WIDER * number if self.wide else number)

    def spaces(self, kind: Kind) -> tuple[Space, ...]:
        """Return what its search draws from: several where it is wide, else one.

        Raises:
            SettingsError: its network has none.
        """
        own = self._part.spaces.get(kind)
        if own is None:
            raise SettingsError(f"{self.title} has no search space of its own; use --space paper")
        found = own.wide if self.wide else (own,)
        if self.settings["model"] == PPRO:
            strategy = STRATEGIES.get(self.settings["strategy"])
            values = {
                **strategy.values.get(kind, {}),
                **(strategy.wide_values.get(kind, {}) if self.wide else {}),
            }
            found = tuple(space.under(values, alone=not strategy.learns) for space in found)
        more = {**(_CONSISTENCY if self.consistent else {}), **(_FADING if self.fades else {})}
        return tuple(space.with_values(more) for space in found)

    @property
    def _part(self) -> Any:
        model = self.settings["model"]
        return BACKBONES.get(self.settings["backbone"]) if model == PPRO else RIVALS.get(model)


_VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "-wide": (", wide", {"wide": True}),
    "+c4": (", consistency of four", {"consistent": True}),
    "+c": (", consistency", {"consistent": True}),
    "+f": (", consistency, fading labels", {"consistent": True, "fades": True}),
}
"""What the names and titles of other searches of a method end with, and how they differ."""
_FOUR = {"consistency_forwards": 4}


def _variant(plain: Method, ending: str) -> Method:
    title, changes = _VARIANTS[ending]
    settings = {**plain.settings, **(_FOUR if ending == "+c4" else {})}
    name = plain.name + ending
    return replace(plain, name=name, title=plain.title + title, settings=settings, **changes)


def rival(name: str) -> Method:
    """Return a rival as a method."""
    part = RIVALS.get(name)
    return Method(name, part.title, {"model": name}, part.note)


def ppro_on(backbone: str, strategy: str) -> Method:
    """Return PPro on a backbone, or the backbone alone under the strategy "none"."""
    network, rule = BACKBONES.get(backbone), STRATEGIES.get(strategy)
    settings = {"model": PPRO, "backbone": backbone, "strategy": strategy}
    if backbone == USUAL and strategy != ALONE:
        return Method(strategy, rule.title, settings, network.note)
    title = f"{network.title}, {rule.title}"
    return Method(f"{backbone}-{strategy}", title, settings, network.note)


def method_of(settings: Settings) -> Method:
    """Return the method that settings are of."""
    if settings.model != PPRO:
        return rival(settings.model)
    return ppro_on(settings.backbone, settings.strategy)


def find_method(name: str) -> Method:
    """Return a method by its name, such as gcn, l2b, gcnii-l2u, l2b-wide or appnp-none+c.

    Raises:
        SettingsError: there is none of that name.
    """
    for ending in _VARIANTS:
        plain = _plain(name.removesuffix(ending)) if name.endswith(ending) else None
        if plain is not None and (ending != "-wide" or plain.name in _with_wide_spaces()):
            return _variant(plain, ending)
    found = _plain(name)
    if found is None:
        raise SettingsError(f"no method '{name}'; {nearest(name, method_names())}")
    return found


def _plain(name: str) -> Method | None:
    if name in RIVALS:
        return rival(name)
    if name in STRATEGIES and name != ALONE:
        return ppro_on(USUAL, name)
    for strategy in STRATEGIES:
        backbone = name.removesuffix(f"-{strategy}")
        if backbone != name and backbone in BACKBONES:
            return ppro_on(backbone, strategy)
    return None


def method_names() -> list[str]:
    """Return the names of all methods that have a search space."""
    plain = [*RIVALS, *(method.name for method in _all_of_ppro())]
    more = [f"{name}{ending}" for ending in ("+c", "+c4", "+f") for name in plain]
    return [*plain, *more, *(f"{name}-wide" for name in _with_wide_spaces())]


def _all_of_ppro() -> Iterator[Method]:
    for backbone, part in BACKBONES.items():
        if part.spaces:
            yield from (ppro_on(backbone, strategy) for strategy in STRATEGIES)


def _with_wide_spaces() -> list[str]:
    wide = [name for name, part in BACKBONES.items() if any(s.wide for s in part.spaces.values())]
    return [ppro_on(backbone, strategy).name for backbone in wide for strategy in STRATEGIES]
