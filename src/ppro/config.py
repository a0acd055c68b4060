"""Settings: what a run is made of, checked, with errors that name the nearest valid key."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ppro.backbones import BackboneName
from ppro.backbones.appnp import Form
from ppro.baselines import ModelName
from ppro.baselines.jknet import Jumping
from ppro.controllers import WeightForm
from ppro.errors import SettingsError
from ppro.features import FeatureNorm
from ppro.propagation import Normalisation
from ppro.stopping import Selection
from ppro.strategies import Strategy

Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]

PER_RUN = frozenset(
    {
        *("seed", "lr", "lr_controller", "weight_decay", "step_decay", "dropout", "edge_dropout"),
        *("node_dropout", "consistency", "consistency_temperature"),
        *("epsilon", "lambda1", "lambda2", "propagation_bias", "judge_share"),
    }
)
"""Settings that may differ between the runs of one batch; all others shape the program."""
OF_CONTROLLERS = frozenset(
    {
        *("epsilon", "lambda1", "lambda2", "lr_controller", "judge_share", "propagation_bias"),
        *("controller_units", "controller_inputs", "use_progress", "weight_form", "consistency_on"),
        *("use_priority", "use_step", "use_weighting", "use_propagation"),
    }
)
"""Settings that do nothing without controllers; all others are of the backbone and its training."""


class Settings(BaseModel):
    """Everything that decides the outcome of a run, apart from the graph and its split."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    model: ModelName = Field(
        default="ppro", description="ppro, or a rival to compare with: see ppro.baselines"
    )
    strategy: Strategy = Field(
        default="l2b", description="how the nodes of PPro choose their step: l2b, l2u or none"
    )
    backbone: BackboneName = Field(
        default="appnp",
        description="the graph neural network: appnp, gat, gcn, gcnii, grand or sgc",
    )
    seed: int = Field(default=0, ge=0, lt=2**31, description="seed of initial weights and dropout")

    feature_norm: FeatureNorm = Field(
        default="row", description="row: absolute values sum to one; none: as given"
    )
    normalisation: Normalisation = Field(default="symmetric", description="of the adjacency matrix")
    self_loops: bool = Field(default=True, description="add self-loops to the adjacency matrix")

    form: Form = Field(
        default="hidden",
        description="what APPNP propagates: hidden features, class scores or the features",
    )
    concat: bool = Field(
        default=False, description="the classifier sees h̃ and h0; not in form class"
    )
    hidden: int = Field(default=64, ge=1, description="width of the hidden layer")
    alpha: Share = Field(
        default=0.1, description="teleport share α of APPNP, GCNII, L2P; of GPR-GNN at the start"
    )
    heads: int = Field(default=8, ge=1, description="attention heads of GAT")
    jumping: Jumping = Field(
        default="cat", description="how JKNet joins its layers: cat (side by side) or max"
    )
    gcnii_lambda: Positive = Field(
        default=0.5, description="λ of GCNII: step k is an identity map but for log(λ/k + 1)"
    )
    max_steps: int = Field(
        default=10, ge=1, description="L, the largest number of propagation steps"
    )
    dropout: Share = Field(default=0.5, description="dropout of features and hidden layer")
    edge_dropout: Share = Field(default=0.0, description="dropout of the adjacency's entries")

    node_dropout: Share = Field(default=0.0, description="dropout of whole rows of the features")

    consistency: float = Field(
        default=0.0, ge=0, description="weight of agreement between dropout forwards on all nodes"
    )
    consistency_forwards: int = Field(default=2, ge=2, description="forwards that must agree")
    consistency_temperature: Positive = Field(
        default=0.5, description="T that sharpens what they agree on"
    )
    consistency_on: Literal["full", "selected", "priority"] = Field(
        default="full",
        description="which predictions agree: of full depth, those selected, or those selected in "
        "proportion to the priority of their nodes",
    )

    epsilon: float = Field(
        default=0.5, ge=0, le=1, description="threshold ε of the propagation controller"
    )
    lambda1: float = Field(
        default=1.0, ge=0, description="λ1: penalty on priority weights (Eq. 13)"
    )
    lambda2: float = Field(
        default=1.0,
        ge=0,
        description="λ2: share of the weight controller (Eq. 14), or of the entropy in L2P",
    )
    controller_units: int = Field(
        default=64, ge=1, description="width of the controllers' first layer"
    )
    controller_inputs: Literal["embeddings", "predictions"] = Field(
        default="embeddings", description="what the controllers see of a step"
    )
    use_progress: bool = Field(
        default=False,
        description="the propagation controller also sees k/L and log ‖h_k - h_{k-1}‖",
    )
    judge_share: Share = Field(
        default=0.0,
        description="share of the training nodes that teach the controllers alone",
    )
    propagation_bias: float | None = Field(
        default=None,
        description="initial bias of the propagation head; default -2 (l2b) or 4 (l2u)",
    )
    weight_form: WeightForm = Field(
        default="softplus", description="w = softplus(·) or 1 + tanh(·)"
    )
    use_priority: bool = Field(
        default=True, description="z feeds the propagation controller (else -nz)"
    )
    use_step: bool = Field(default=True, description="l feeds the weight controller (else -nl)")
    use_weighting: bool = Field(default=True, description="weight controller on (else -nw)")
    use_propagation: bool = Field(default=True, description="propagation controller on (else -np)")

    lr: Positive = Field(default=0.01, description="learning rate of the backbone")
    lr_controller: Positive = Field(default=1e-3, description="learning rate of the controllers")
    weight_decay: float = Field(default=5e-4, ge=0, description="L2 penalty of the backbone")
    step_decay: float | None = Field(
        default=None,
        ge=0,
        description="L2 penalty of GCNII's layers of the steps; default that of the others, or "
        "none where decay is first",
    )
    decay: Literal["first", "all"] = Field(default="first", description="what weight decay acts on")
    epochs: int = Field(default=1000, ge=1, description="most epochs of a run")
    selection: Selection = Field(
        default="accuracy",
        description="what makes a state better: validation accuracy, smoothed or loss",
    )
    patience: int = Field(default=100, ge=1, description="epochs without a better validation score")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.propagation_bias is None:
            start = -2.0 if self.strategy == "l2b" else 4.0
            object.__setattr__(self, "propagation_bias", start)
        if self.model != "ppro":
            object.__setattr__(self, "strategy", "none")
        elif self.backbone == "grand" and self.consistency == 0:
            raise ValueError(
                "backbone grand takes its normalisation from passes over all nodes; "
                "set consistency above 0, for example 1"
            )
        return self

    @property
    def decay_of_steps(self) -> float:
        """The L2 penalty of the layers of the steps."""
        if self.step_decay is None:
            return self.weight_decay if self.decay == "all" else 0.0
        return self.step_decay

    def replace(self, **changes: Any) -> Settings:
        """The same settings with some changed, checked again.

        With another strategy the initial bias of the propagation head becomes that strategy's
        default, unless it is given too: a chance to break is not one to update.
        """
        values = self.model_dump()
        if changes.get("strategy", self.strategy) != self.strategy:
            values["propagation_bias"] = None
        return parse_settings({**values, **changes}, "settings")

    def with_controllers_of(self, other: Settings) -> Settings:
        """The backbone of these settings under the strategy and the controllers of others."""
        controllers = {key: getattr(other, key) for key in OF_CONTROLLERS}
        return self.replace(strategy=other.strategy, **controllers)

    def program(self) -> dict[str, Any]:
        """The settings that all runs of a batch must share."""
        return {k: v for k, v in self.model_dump().items() if k not in PER_RUN}


class PaperResult(BaseModel):
    """The number the paper prints for a recipe's dataset and strategy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accuracy: float = Field(ge=0, le=100)
    std: float | None = None
    table: str


class Found(BaseModel):
    """How the settings of a recipe were found; accuracy in percent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: str = Field(description="whose search found them")
    configurations: int = Field(ge=0, description="searched for all that competed")
    runs: int = Field(ge=1, description="runs behind the validation accuracy")
    validation: float = Field(ge=0, le=100)


class Recipe(BaseModel):
    """A dataset, a split and the settings for it, with the paper's number where it has one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dataset: str
    split: str
    settings: Settings = Settings()
    found: Found | None = None
    paper: PaperResult | None = None
    note: str = ""


def nearest(key: str, valid: Sequence[str], otherwise: str = "") -> str:
    """A phrase that names the valid key nearest to a wrong one.

    Args:
        otherwise: what to say where none is near; by default the phrase lists all.
    """
    found = difflib.get_close_matches(key, valid, n=1, cutoff=0.4)
    if found:
        return f"did you mean '{found[0]}'?"
    return otherwise or f"valid: {', '.join(sorted(valid))}"


def explain(error: ValidationError, where: str, model: type[BaseModel]) -> str:
    """The first problem of a pydantic error, in one line with a remedy.

    Args:
        where: the file or option that the values came from.
        model: what they were to become.
    """
    problem = error.errors()[0]
    path = [str(part) for part in problem["loc"]]
    key = ".".join(path) or "settings"
    if problem["type"] == "extra_forbidden":
        group = _GROUPS.get(path[0], model) if path[1:] else model
        return f"{where}: unknown key '{key}'; {nearest(path[-1], tuple(group.model_fields))}"
    if problem["type"] == "missing":
        return f"{where}: the key '{key}' is missing; add it"
    message = problem["msg"]
    return f"{where}: {key}: {message[0].lower()}{message[1:]} (got {problem['input']!r})"


_GROUPS: dict[str, type[BaseModel]] = {
    "settings": Settings,
    "found": Found,
    "paper": PaperResult,
}


def parse_settings(values: Mapping[str, Any], where: str) -> Settings:
    """Check settings.

    Raises:
        SettingsError: a key is unknown or a value out of range.
    """
    try:
        return Settings.model_validate(dict(values))
    except ValidationError as error:
        raise SettingsError(explain(error, where, Settings)) from None


def parse_recipe(text: str, where: str) -> Recipe:
    """Read a recipe from TOML text.

    Raises:
        SettingsError: the text is not TOML, a key is unknown or a value out of range.
    """
    try:
        return Recipe.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{where}: not valid TOML: {error}") from None
    except ValidationError as error:
        raise SettingsError(explain(error, where, Recipe)) from None


def read_recipe(path: Path) -> Recipe:
    """Read a recipe file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise SettingsError(f"{path}: {reason}; --recipe takes a TOML file or a name") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not a text file; a recipe is TOML in UTF-8") from None
    return parse_recipe(text, str(path))


def recipe_toml(recipe: Recipe) -> str:
    """A recipe as TOML text, every setting spelled out."""
    return tomli_w.dumps(recipe.model_dump(exclude_none=True))


def short_recipe_toml(recipe: Recipe) -> str:
    """A recipe as TOML text, with the settings that differ from the defaults."""
    values = recipe.model_dump(exclude_none=True, exclude_defaults=True)
    strategy = recipe.settings.strategy
    usual = Settings(strategy=strategy).model_dump(exclude_none=True)
    given = recipe.settings.model_dump(exclude_none=True)
    changed = {key: value for key, value in given.items() if value != usual.get(key)}
    return tomli_w.dumps({**values, "settings": {"strategy": strategy, **changed}})


def assignments(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings from ``key=value`` words of the command line; values as in TOML, or bare words."""
    changes: dict[str, Any] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise SettingsError(f"--set {pair}: expected key=value, for example --set dropout=0.8")
        key = key.strip()
        if key not in Settings.model_fields:
            valid = tuple(Settings.model_fields)
            raise SettingsError(f"--set {pair}: unknown key '{key}'; {nearest(key, valid)}")
        changes[key] = _value(value.strip())
    return changes


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text
