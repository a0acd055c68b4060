"""Settings of Algorithm 1: dropout, consistency, optimiser, early stopping."""

import math
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from ppro.parts import METRICS
from ppro.parts.choices import Selection
from ppro.settings.groups import Group, Positive, Share
from ppro.settings.limits import MOST_EPOCHS

BALANCED = "balanced"
"""The class weights with which every class has the same share in a loss."""


class TrainingSettings(Group):
    """How θ learns, and which of its states is kept."""

    per_run: ClassVar[frozenset[str]] = frozenset(
        {
            *("lr", "weight_decay", "step_decay", "dropout", "edge_dropout", "node_dropout"),
            *("feature_dropout", "state_dropout"),
            *("consistency", "consistency_temperature", "fading"),
        }
    )

    dropout: Share = Field(default=0.5, description="dropout of features and hidden layer")
    feature_dropout: Share | None = Field(
        default=None, description="dropout of the features alone; default that of the hidden layer"
    )
    state_dropout: Share = Field(
        default=0.0, description="dropout of h_0 before it propagates (APPNP, not form features)"
    )
    edge_dropout: Share = Field(default=0.0, description="dropout of the adjacency's entries")
    node_dropout: Share = Field(default=0.0, description="dropout of whole rows of the features")
    consistency: float = Field(
        default=0.0, ge=0, description="weight of agreement between dropout forwards on all nodes"
    )
    consistency_forwards: int = Field(
        default=2, ge=2, le=64, description="forwards that must agree"
    )
    consistency_temperature: Positive = Field(
        default=0.5, description="T that sharpens what they agree on"
    )
    fading: float = Field(
        default=0.0,
        ge=0,
        description="mean training error below which labels count less, in proportion to it, than "
        "consistency and decay beside them; 0 for never",
    )
    lr: Positive = Field(default=0.01, description="learning rate of the backbone")
    weight_decay: float = Field(default=5e-4, ge=0, description="L2 penalty of the backbone")
    step_decay: float | None = Field(
        default=None,
        ge=0,
        description="L2 penalty of GCNII's layers of the steps; default that of the others, or "
        "none where decay is first",
    )
    decay: Literal["first", "all"] = Field(default="first", description="what weight decay acts on")
    epochs: int = Field(default=1000, ge=1, le=MOST_EPOCHS, description="most epochs of a run")
    metric: str = Field(
        default="accuracy", description="what is measured on validation nodes to choose an epoch"
    )
    class_weight: tuple[str, ...] = Field(
        default=(),
        description="what a class counts in the losses: none, balanced, or CLASS=WEIGHT for those "
        "that count other than 1",
    )
    selection: Selection = Field(
        default="score",
        description="what makes a state better: the metric, its moving average, the loss, or that "
        "it comes last",
    )
    patience: int = Field(
        default=100, ge=1, le=MOST_EPOCHS, description="epochs without a better validation score"
    )

    @field_validator("metric")
    @classmethod
    def _known(cls, name: str) -> str:
        return METRICS.check(name)

    @field_validator("class_weight", mode="before")
    @classmethod
    def _one_word(cls, given: object) -> object:
        words = [given] if isinstance(given, str) else given
        return [] if words == ["none"] else words

    @field_validator("class_weight")
    @classmethod
    def _weights(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        return words if words == (BALANCED,) else tuple(map(_checked_weight, words))

    @field_validator("selection", mode="before")
    @classmethod
    def _renamed(cls, name: object) -> object:
        """Read the word of version 0.1, which knew no other metric."""
        return "score" if name == "accuracy" else name

    @property
    def dropout_of_features(self) -> float:
        """Return the dropout rate of the features."""
        return self.dropout if self.feature_dropout is None else self.feature_dropout

    @property
    def decay_of_steps(self) -> float:
        """Return the L2 penalty of the layers of the steps."""
        if self.step_decay is None:
            return self.weight_decay if self.decay == "all" else 0.0
        return self.step_decay


def _checked_weight(word: str) -> str:
    """Return ``CLASS=WEIGHT`` if it is that.

    Raises:
        ValueError: it is not, or the weight is not a positive number.
    """
    name, _, text = word.rpartition("=")
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not name or not 0 < weight < math.inf:
        raise ValueError(
            f"{word}: expected {BALANCED}, or CLASS=WEIGHT with a weight above 0, such as rare=10"
        )
    return word
