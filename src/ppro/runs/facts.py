"""What ``result.json`` may hold: the kinds of all values that somebody reads."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

Whole = Annotated[int, Field(ge=0, lt=2**53, strict=True)]
Number = Annotated[float, Field(strict=True)] | None
"""NaN is written as null."""
Text = Annotated[str, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Part = Literal["val", "test"]


class _Kinds(BaseModel):
    """Only what is named is looked at: versions to come may write more."""

    model_config = ConfigDict(extra="allow")


class Spread(_Kinds):
    """A metric over the runs."""

    mean: Number
    std: Number


class ClassRow(_Kinds):
    """What was measured of a class."""

    name: Text
    precision: float
    recall: float
    f1: float
    nodes: Whole


class Majority(_Kinds):
    """How the result compares with guessing the most frequent class."""

    name: Text
    share: float
    gain: float
    standard_error: float
    beaten: Flag


class Spreads(_Kinds):
    """How nodes differ within runs, as :class:`ppro.training.diagnosis.Diagnosis` writes it."""

    shares: list[list[float]] | None
    priorities: dict[str, list[Number]] | None

    @model_validator(mode="after")
    def _as_long(self) -> Self:
        columns = list((self.priorities or {}).values())
        if len({len(column) for column in columns}) > 1 or any(
            not run for run in self.shares or []
        ):
            raise ValueError("columns of different lengths")
        return self


class RunRow(_Kinds):
    """What one run reached."""

    run: Whole
    seed: Whole
    epochs: Whole
    best_epoch: Annotated[int, Field(ge=1, lt=2**53, strict=True)]
    val_accuracy: Number
    test_accuracy: Number
    val_score: Number = None
    test_score: Number = None
    metrics: dict[Part, dict[str, Number]] = Field(default_factory=dict)
    temperature: Number = None
    threshold: Number = None


class Facts(_Kinds):
    """The whole file."""

    dataset: Text = ""
    split: Text = ""
    metric: Text = "accuracy"
    epochs: Whole = 0
    val_mean: Number = None
    val_std: Number = None
    test_mean: Number = None
    test_std: Number = None
    val_score_mean: Number = None
    val_score_std: Number = None
    test_score_mean: Number = None
    test_score_std: Number = None
    paper: Number = None
    seconds: Number = None
    interrupted: Flag | None = None
    notes: list[Text] | None = None
    metrics: dict[Part, dict[str, Spread]] | None = None
    told_of: Part | None = None
    classes: list[ClassRow] | None = None
    confusion: list[list[Whole]] | None = None
    majority: Majority | None = None
    positive: Whole | Text | None = None
    steps: list[float] | None = None
    diagnosis: Spreads | None = None
    versions: dict[str, Text] | None = None
    best_run: Whole = 0
    per_run: list[RunRow]

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.confusion is not None and any(
            len(row) != len(self.confusion) for row in self.confusion
        ):
            raise ValueError("confusion is not square")
        if self.metrics and len({frozenset(found) for found in self.metrics.values()}) > 1:
            raise ValueError("metrics of different names")
        if self.classes is not None and self.told_of is None:
            raise ValueError("told_of is missing")
        return self


_FACTS: TypeAdapter[Facts] = TypeAdapter(Facts)


def check_facts(facts: Any) -> None:
    """Refuse a result whose values are of other kinds than those that are read.

    Raises:
        ValueError: it names the first.
    """
    try:
        _FACTS.validate_python(facts)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or "it"
        raise ValueError(f"{where}: {problem['msg'][0].lower()}{problem['msg'][1:]}") from None
