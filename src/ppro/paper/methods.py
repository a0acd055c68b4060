"""The methods that are compared, each with the space that its search draws from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ppro.data import dataset_info
from ppro.errors import SettingsError
from ppro.paper.ppro_spaces import ppro_space, with_consistency
from ppro.paper.wide_spaces import wide_spaces
from ppro.parts import RIVALS, nearest
from ppro.parts.choices import Kind
from ppro.settings.space import Configuration, Space, draw_in_turns

WIDER = 3
"""A wide search tries so many times the configurations of another."""

HOMOPHILOUS = frozenset({"cora", "citeseer", "pubmed", "digits"})


def kind_of(dataset: str) -> Kind:
    """Which of its two spaces a method searches on a dataset."""
    dataset_info(dataset)
    return "homophilous" if dataset in HOMOPHILOUS else "heterophilous"


@dataclass(frozen=True)
class Method:
    """A method of a table.

    Args:
        name: what commands and result files call it.
        title: what a table calls it.
        settings: what makes it this method, whatever the search chooses.
        note: what a reader of its numbers must know.
        consistent: whether forwards under dropout must agree on all nodes besides.
        wide: whether its search is of more shapes, and of as many more configurations.
    """

    name: str
    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    consistent: bool = False
    wide: bool = False

    @property
    def for_few_labels(self) -> bool:
        """Whether it always learns from nodes without labels, which heterophilous graphs lack."""
        return self.consistent or self.settings.get("backbone") == "grand"

    def configurations(self, kind: Kind, number: int) -> list[Configuration]:
        """What a search of ``number`` configurations tries; a wide one takes more."""
        if not self.wide:
            return self.space(kind).draw(number)
        return draw_in_turns(wide_spaces(self.settings["strategy"], kind), WIDER * number)

    def space(self, kind: Kind) -> Space:
        """What its search draws from, where it is not wide."""
        model = self.settings["model"]
        if model == "ppro":
            own = ppro_space(self.settings["backbone"], self.settings["strategy"], kind)
        else:
            own = RIVALS.get(model).spaces[kind]
        return with_consistency(own) if self.consistent else own

    def made_consistent(self) -> Method:
        """The same method with the option, under a name of its own."""
        title = f"{self.title}, consistency"
        return replace(self, name=f"{self.name}+c", title=title, consistent=True)

    def made_consistent_of_four(self) -> Method:
        """The same with the agreement of four forwards instead of two."""
        settings = {**self.settings, "consistency_forwards": 4}
        made = replace(self.made_consistent(), settings=settings)
        return replace(made, name=f"{made.name}4", title=f"{made.title} of four")

    def made_wide(self) -> Method:
        """The same method, searched further, under a name of its own."""
        return replace(self, name=f"{self.name}-wide", title=f"{self.title}, wide", wide=True)


TITLES = {
    "mlp": "MLP",
    "gcn": "GCN",
    "sgc": "SGC",
    "gat": "GAT",
    "jknet": "JKNet",
    "jknet-drop": "JKNet (Drop)",
    "appnp": "APPNP",
    "gcnii": "GCNII",
    "gcnii-star": "GCNII*",
    "h2gcn": "H2GCN",
    "geom-gcn": "Geom-GCN",
    "gprgnn": "GPR-GNN",
    "dagnn": "DAGNN",
    "l2q": "L2P (L2Q)",
    "l2s": "L2P (L2S)",
}
_STRATEGIES = {"l2b": "L2B", "l2u": "L2U", "none": "backbone alone"}
_BACKBONES = {"appnp": "APPNP", "gcn": "GCN", "gat": "GAT", "gcnii": "GCNII", "grand": "GRAND"}


def _rivals() -> list[Method]:
    return [
        Method(
            name,
            title,
            {"model": name},
            "its controllers learn from validation labels" if name in ("l2q", "l2s") else "",
        )
        for name, title in TITLES.items()
        if name in RIVALS
    ]


def _ppro() -> list[Method]:
    """PPro on each backbone; on APPNP, the paper's own, it goes by the strategy's name alone."""
    methods = []
    for backbone, network in _BACKBONES.items():
        for strategy, title in _STRATEGIES.items():
            settings = {"model": "ppro", "backbone": backbone, "strategy": strategy}
            plain = backbone == "appnp" and strategy != "none"
            name = strategy if plain else f"{backbone}-{strategy}"
            methods.append(Method(name, title if plain else f"{network}, {title}", settings))
    return methods


_AS_PUBLISHED = {method.name: method for method in (*_rivals(), *_ppro())}
CONSISTENT = ("mlp", "gcn", "appnp", "gcnii", "gprgnn", "appnp-none", "l2b", "l2u")
"""Those that are measured with consistency too."""
OURS = ("appnp-none", "l2b", "l2u")
"""PPro and its backbone, from whose searches the recipes are made."""
SEARCHES = ("", "-wide", "+c", "+c4")
"""What their names end with in these searches, GRAND under them apart."""

METHODS: dict[str, Method] = {
    **_AS_PUBLISHED,
    **{f"{name}+c": _AS_PUBLISHED[name].made_consistent() for name in CONSISTENT},
    **{f"{name}+c4": _AS_PUBLISHED[name].made_consistent_of_four() for name in OURS},
    **{f"{name}-wide": _AS_PUBLISHED[name].made_wide() for name in OURS},
}


def searches(name: str) -> tuple[str, ...]:
    """The searches of one of ours."""
    own = tuple(f"{name}{more}" for more in SEARCHES)
    return (*own, f"grand-{METHODS[name].settings['strategy']}")


def find_method(name: str) -> Method:
    """A method by its name.

    Raises:
        SettingsError: there is none of that name.
    """
    if name not in METHODS:
        raise SettingsError(f"no method '{name}'; {nearest(name, tuple(METHODS))}")
    return METHODS[name]
