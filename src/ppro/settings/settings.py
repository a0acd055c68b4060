"""All settings of a run in their groups, and the flat names under which users give them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationError,
    field_validator,
    model_validator,
)

from ppro.errors import SettingsError
from ppro.parts import BACKBONES, JUDGES, RIVALS, STRATEGIES, nearest
from ppro.settings.controllers import OF_TEACHING, ControllerSettings
from ppro.settings.explain import explain
from ppro.settings.groups import Group, NetworkSettings
from ppro.settings.inputs import InputSettings
from ppro.settings.training import TrainingSettings

PPRO = "ppro"
"""The model that is no rival."""
_GROUPS: dict[str, type[Group]] = {
    "inputs": InputSettings,
    "controllers": ControllerSettings,
    "training": TrainingSettings,
}
"""The groups that every network has; that of the network itself depends on its class."""


class _Called(type(BaseModel)):  # type: ignore[misc]
    # What is wrong with keywords in Python is told as what is wrong in a file.
    def __call__(cls, **values: Any) -> Any:
        return parse_settings(values, "settings")


class Settings(BaseModel, metaclass=_Called):
    """Everything that decides the outcome of a run, apart from the graph and its split.

    Settings lie in groups, and every setting has a name of its own among all of them, so they can
    be given flat as well: ``Settings(lr=0.05)`` is ``Settings(training={"lr": 0.05})``.

    Attributes:
        network: the settings of the backbone, or of the rival; its class stands beside theirs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    per_run_here: ClassVar[frozenset[str]] = frozenset({"seed"})

    model: str = Field(default=PPRO, description="ppro, or a rival to compare with")
    strategy: str = Field(default="l2b", description="how the nodes of PPro choose their step")
    backbone: str = Field(default="appnp", description="the graph neural network of PPro")
    seed: int = Field(default=0, ge=0, lt=2**31, description="seed of initial weights and dropout")
    inputs: InputSettings = InputSettings()
    network: SerializeAsAny[NetworkSettings] = NetworkSettings()
    controllers: ControllerSettings = ControllerSettings()
    training: TrainingSettings = TrainingSettings()

    if TYPE_CHECKING:

        def __init__(self, **values: Any) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _grouped(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        try:
            return _in_groups(values)
        except ValidationError as error:
            raise ValueError(explain(error, "settings", keys_of(values))) from None

    @field_validator("model", "strategy", "backbone")
    @classmethod
    def _known(cls, name: str, info: Any) -> str:
        if info.field_name == "model" and name == PPRO:
            return name
        registries = {"model": RIVALS, "strategy": STRATEGIES, "backbone": BACKBONES}
        return registries[info.field_name].check(name)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.model != PPRO:
            object.__setattr__(self, "strategy", "none")
        if self.controllers.propagation_bias is None:
            start = STRATEGIES.get(self.strategy).default_bias
            filled = self.controllers.model_copy(update={"propagation_bias": start})
            object.__setattr__(self, "controllers", filled)
        if self.network.max_steps == 0 and (self.model != PPRO or self.strategy != "none"):
            raise ValueError(
                "max_steps: 0 is for the bare backbone alone; give at least 1, or strategy none"
            )
        part_of(self).check(self)
        JUDGES.get(self.controllers.judges).check(self.controllers)
        return self

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Settings:
        """Read saved settings, flat or in groups.

        Version 0.1 saved the settings of every network; those that this one does not have are
        left out, as they played no part.
        """
        return parse_settings(without_foreign(values), "settings")

    def flat(self) -> dict[str, Any]:
        """Return every setting under its own name."""
        found = {key: getattr(self, key) for key in ("model", "strategy", "backbone", "seed")}
        for group in self.groups():
            found |= dict(group)
        return found

    def groups(self) -> Iterator[Group]:
        """Yield the groups."""
        yield from (self.inputs, self.network, self.controllers, self.training)

    @property
    def per_run(self) -> frozenset[str]:
        """Return the names of the settings that may differ between the runs of one batch."""
        return self.per_run_here.union(*(group.per_run for group in self.groups()))

    def program(self) -> dict[str, Any]:
        """Return the settings that all runs of a batch must share."""
        return {key: v for key, v in self.flat().items() if key not in self.per_run}

    def replace(self, **changes: Any) -> Settings:
        """Return the same settings with some changed, checked again.

        With another strategy the initial bias of the propagation head becomes that strategy's
        default, unless it is given too: a chance to break is not one to update. With another
        network only the settings that it shares with this one are taken along. Another teaching
        has its usual judges, learning rate, width and λ1.
        """
        values, teaching = self.flat(), self.controllers.teaching
        if changes.get("teaching", teaching) != teaching:
            values |= dict.fromkeys(OF_TEACHING)
        if changes.get("strategy", self.strategy) != self.strategy:
            values["propagation_bias"] = None
        kept = without_foreign(values, {**values, **changes})
        return parse_settings({**kept, **changes}, "settings")

    def with_controllers_of(self, other: Settings) -> Settings:
        """Return the backbone of these settings under the strategy and controllers of others."""
        return self.replace(strategy=other.strategy, **dict(other.controllers))


def part_of(settings: Settings) -> Any:
    """Return the class of the backbone, or of the rival (see :class:`ppro.nn.part.Part`)."""
    return _part(settings.model, settings.backbone)


def _part(model: str, backbone: str) -> Any:
    return BACKBONES.get(backbone) if model == PPRO else RIVALS.get(model)


def _network_of(values: Mapping[str, Any]) -> type[NetworkSettings]:
    """Return the class of the network's settings."""
    model, backbone = values.get("model", PPRO), values.get("backbone", "appnp")
    found: type[NetworkSettings] = _part(str(model), str(backbone)).settings_class
    return found


def _in_groups(given_values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values, flat or in groups, in groups alone, each checked."""
    values, network = dict(given_values), _network_of(given_values)
    classes = {**_GROUPS, "network": network}
    found: dict[str, Any] = {}
    inside: dict[str, dict[str, Any]] = {}
    for name, group in classes.items():
        given = values.pop(name, {})
        inside[name] = dict(given) if isinstance(given, Group | Mapping) else {"": given}
        if isinstance(given, NetworkSettings) and not isinstance(given, network):
            inside[name] = {key: v for key, v in dict(given).items() if network.field(key)}
        inside[name] = {group.field(key) or key: v for key, v in inside[name].items()}
    for key, value in values.items():
        home = _home(key, values, classes)
        if home is None:
            found[key] = value
        else:
            inside[home][classes[home].field(key) or key] = value
    found |= {name: group(**inside[name]) for name, group in classes.items()}
    return found


def _home(key: str, values: Mapping[str, Any], classes: Mapping[str, type[Group]]) -> str | None:
    """Return the group of a flat key, or None.

    A name that version 0.1 gave to two settings is the network's, unless its name of today is
    given too.
    """
    renamed = classes["network"].renamed.get(key)
    if renamed is not None and renamed not in values:
        return "network"
    return next((name for name, group in classes.items() if key in group.model_fields), None)


def _is_of_another(key: str, values: Mapping[str, Any]) -> bool:
    """Tell whether a setting belongs to another network than the one these values name."""
    if key in Settings.model_fields or any(group.field(key) for group in _GROUPS.values()):
        return False
    return _network_of(values).field(key) is None and key in network_keys()


def without_foreign(
    values: Mapping[str, Any], target: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return values without the settings of other networks than the one that they name.

    Args:
        target: the values that name the network, if others.
    """
    named = values if target is None else target
    return {key: value for key, value in values.items() if not _is_of_another(key, named)}


def network_keys() -> set[str]:
    """Return the names of the settings of all networks, those of version 0.1 included."""
    found: set[str] = set()
    for registry in (BACKBONES, RIVALS):
        for name in registry:
            own = registry.get(name).settings_class
            found |= {*own.model_fields, *own.renamed}
    return found


def all_keys() -> list[str]:
    """Return the flat names of all settings of all networks."""
    own = [key for key in Settings.model_fields if key not in (*_GROUPS, "network")]
    shared = [key for group in _GROUPS.values() for key in group.model_fields]
    return list(dict.fromkeys([*own, *shared, *sorted(network_keys())]))


def keys_of(values: Mapping[str, Any]) -> list[str]:
    """Return the flat names of the settings of the network that these values name."""
    own = [key for key in Settings.model_fields if key not in (*_GROUPS, "network")]
    groups = [*_GROUPS.values(), _network_of(values)]
    return [*own, *(key for group in groups for key in group.model_fields)]


def parse_settings(values: Mapping[str, Any], where: str, inside: str = "") -> Settings:
    """Check settings, flat or in groups.

    Args:
        where: the file or option that they came from, for messages.
        inside: the table of the file that holds them, if any.

    Raises:
        SettingsError: a key is unknown or a value out of range.
    """
    known = {*keys_of(values), *_GROUPS, "network"}
    for key in values:
        if key not in known and _is_of_another(key, values):
            raise SettingsError(
                f"{where}: {key} is no setting of {_called(values)}; leave it out, or choose a "
                f"network that has it: {', '.join(_having(key))}"
            )
    try:
        return Settings.model_validate(_in_groups(values))
    except ValidationError as error:
        raise SettingsError(explain(error, where, keys_of(values), inside)) from None
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None


def _called(values: Mapping[str, Any]) -> str:
    model = values.get("model", PPRO)
    return str(values.get("backbone", "appnp") if model == PPRO else model)


def _having(key: str) -> list[str]:
    """Return the networks that have a setting."""
    pairs = [pair for registry in (BACKBONES, RIVALS) for pair in registry.items()]
    return list(dict.fromkeys(n for n, part in pairs if part.settings_class.field(key)))


def assignments(pairs: Sequence[str]) -> dict[str, Any]:
    """Return settings from ``key=value`` words; values as in TOML, or bare words."""
    changes: dict[str, Any] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise SettingsError(f"--set {pair}: expected key=value, for example --set dropout=0.8")
        key = key.strip()
        if key not in (valid := all_keys()):
            raise SettingsError(f"--set {pair}: unknown key '{key}'; {nearest(key, valid)}")
        changes[key] = _value(value.strip())
    return changes


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except (ValueError, RecursionError):
        return text
