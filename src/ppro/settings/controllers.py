"""Settings of the two controllers."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from ppro.parts import JUDGES, MEASURES
from ppro.parts.choices import WeightForm
from ppro.settings.groups import Group, Positive, Share
from ppro.settings.limits import MOST_EPOCHS, MOST_WIDTH

OF_COMPARING: Mapping[str, Any] = {
    "lr_controller": 0.01,
    "controller_units": 32,
    "lambda1": 2.0,
}
"""Defaults of controllers that compare, where they differ from those of the paper's form."""
OF_PAPERS_FORM = (
    *("epsilon", "propagation_bias", "weight_form", "priority_scale", "controller_inputs"),
    *("use_progress", "use_priority", "use_step"),
)
"""Settings that controllers which compare have no use for."""
OF_COMPARING_FORM = (
    *("judge_folds", "judge_every", "start", "warm_up", "settle", "kappa", "controller_decay"),
)
"""Settings of controllers that compare alone."""
OF_TEACHING = frozenset({"judges", *OF_COMPARING})
"""Settings whose default depends on the teaching."""


class ControllerSettings(Group):
    """The propagation controller and the weight controller; they do nothing without a strategy."""

    per_run: ClassVar[frozenset[str]] = frozenset(
        {"epsilon", "lambda1", "lambda2", "propagation_bias", "lr_controller", "judge_share"}
    )

    teaching: Literal["paper", "compare"] = Field(
        default="paper",
        description="paper: Eq. 9 and 10, by the error at the step; compare: by whether a step is "
        "better for a node than the alternative",
    )
    judges: str = Field(
        default="train",
        description="whose errors teach the controllers: those of the training nodes (train), of a "
        "share of them (share), or of backbones that are blind to them (folds); default train, "
        "under teaching=compare folds",
    )
    judge_folds: int = Field(default=3, ge=2, le=20, description="blind backbones of judges=folds")
    judge_every: int = Field(
        default=2, ge=1, le=MOST_EPOCHS, description="epochs between two judgings"
    )
    start: Literal["explore", "held", "first"] = Field(
        default="explore",
        description="explore: any step at random in the warm-up; held: that too, then the backbone "
        "begins anew at the common depth; first: all nodes at step 1 in the warm-up",
    )
    warm_up: int = Field(default=50, ge=0, le=MOST_EPOCHS, description="epochs of the warm-up")
    settle: int = Field(
        default=100, ge=1, le=MOST_EPOCHS, description="epochs after it in which chance dies out"
    )
    kappa: float | None = Field(
        default=None,
        ge=0,
        description="κ: price of leaving the common depth, in standard errors; default the "
        "strategy's, or 8 where the start is held",
    )
    controller_decay: float = Field(
        default=1.0, ge=0, description="L2 penalty of the personal part, over the training nodes"
    )
    epsilon: float = Field(
        default=0.5, ge=0, le=1, description="threshold ε of the propagation controller"
    )
    lambda1: float = Field(
        default=1.0, ge=0, description="λ1: penalty on priority weights (Eq. 13)"
    )
    lambda2: float = Field(
        default=1.0, ge=0, description="λ2: share of the weight controller (Eq. 14)"
    )
    measures: tuple[str, ...] = Field(
        default=("degree", "eigenvector", "heterophily"),
        description="the priority measures that make up z (Eq. 6)",
    )
    controller_units: int = Field(
        default=64, ge=1, le=MOST_WIDTH, description="width of the controllers' first layer"
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
        description="share of the training nodes that teach the controllers alone (judges=share)",
    )
    propagation_bias: float | None = Field(
        default=None,
        description="initial bias of the propagation head; default: the strategy's",
    )
    weight_form: WeightForm = Field(
        default="softplus", description="w = softplus(·) or 1 + tanh(·)"
    )
    priority_scale: Literal["paper", "mean"] = Field(
        default="paper",
        description="priorities under teaching=paper: as Eq. 13 has them; or of mean 1 over the "
        "training nodes and taught by standardised errors. Those of teaching=compare always are",
    )
    consistency_on: Literal["full", "selected", "priority"] = Field(
        default="full",
        description="which predictions agree under consistency: of full depth, those selected, or "
        "those selected in proportion to the priority of their nodes",
    )
    use_priority: bool = Field(
        default=True, description="z feeds the propagation controller (else -nz)"
    )
    use_step: bool = Field(default=True, description="l feeds the weight controller (else -nl)")
    use_weighting: bool = Field(default=True, description="weight controller on (else -nw)")
    use_propagation: bool = Field(default=True, description="propagation controller on (else -np)")
    lr_controller: Positive = Field(
        default=1e-3, description="learning rate of the controllers; 0.01 where they compare"
    )

    @model_validator(mode="before")
    @classmethod
    def _usual(cls, values: Any) -> Any:
        """Fill in what is not given with what suits the teaching."""
        if not isinstance(values, Mapping):
            return values
        compares = values.get("teaching", cls.model_fields["teaching"].default) == "compare"
        judges = "share" if values.get("judge_share") else "folds"
        usual = {"judges": judges, **OF_COMPARING} if compares else {"judges": "train"}
        given = {
            name: value
            for name, value in values.items()
            if value is not None or name not in OF_TEACHING
        }
        return {**usual, **given}

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.priority_scale == "mean" and self.use_weighting and self.lambda1 == 0:
            raise ValueError(
                "priority_scale=mean with lambda1 = 0 has no best priorities, they would grow for "
                "ever; set lambda1 above 0, for example 1"
            )
        return self

    @field_validator("judges")
    @classmethod
    def _known_judges(cls, name: str) -> str:
        return JUDGES.check(name)

    @field_validator("measures")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(names)) < len(names):
            raise ValueError("a measure stands twice; name each once")
        return tuple(MEASURES.check(name) for name in names)
