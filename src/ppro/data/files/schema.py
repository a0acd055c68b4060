"""How tables are to be read (Layout) and how they became a graph (Schema).

A schema is kept with every run that was trained from files, so that new files can be turned into
features in the very same way.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ppro.data.names import MAX_CATEGORIES, MAX_WORDS
from ppro.errors import DataError
from ppro.files import read_text

Missing = Literal["mean", "error"]
Scale = Literal["standard", "none"]
NO_WEIGHT = "none"
"""What a user names instead of a column where edges are to have no weights."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Layout(_Frozen):
    """Which columns a user named, and how to treat them; None leaves the choice to PPro."""

    label: str | None = Field(default=None, description="column with the class of a node")
    id: str | None = Field(default=None, description="column with the id of a node")
    features: tuple[str, ...] | None = Field(default=None, description="feature columns")
    add_features: tuple[str, ...] = Field(default=(), description="more than those that fit")
    all_numeric: bool = Field(default=False, description="take every column of numbers")
    categorical: tuple[str, ...] = Field(default=(), description="numbers that are categories")
    words: tuple[str, ...] = Field(default=(), description="texts whose words are features")
    split_column: str | None = Field(default=None, description="column with train, val, test, none")
    source: str | None = Field(default=None, description="column with one end of an edge")
    target: str | None = Field(default=None, description="column with the other end")
    weight: str | None = Field(default=None, description="column with the weight of an edge")
    missing: Missing = Field(default="mean", description="what a missing feature becomes")
    scale: Scale = Field(default="standard", description="what happens to columns of numbers")
    max_categories: int = Field(default=MAX_CATEGORIES, ge=1)
    max_words: int = Field(default=MAX_WORDS, ge=1)


class NumericColumn(_Frozen):
    """A column of numbers: missing ones become the mean, then ``(x - shift) / scale``.

    With ``indicator`` a second feature is 1 where the value is missing and 0 elsewhere.
    """

    kind: Literal["numeric"] = "numeric"
    name: str
    mean: float
    shift: float
    scale: float = Field(gt=0)
    indicator: bool

    @property
    def width(self) -> int:
        """Return how many features it makes."""
        return len(self.feature_names)

    @property
    def feature_names(self) -> list[str]:
        """Return a name for each feature that it makes."""
        return [self.name, *([f"{self.name} is missing"] if self.indicator else [])]


class CategoricalColumn(_Frozen):
    """A column of categories: one feature each, in this order, then those for rare and missing."""

    kind: Literal["categorical"] = "categorical"
    name: str
    categories: tuple[str, ...]
    other: bool
    indicator: bool

    @property
    def width(self) -> int:
        """Return how many features it makes."""
        return len(self.categories) + self.other + self.indicator

    @property
    def feature_names(self) -> list[str]:
        """Return a name for each feature that it makes."""
        rare = [f"{self.name} is another"] if self.other else []
        missing = [f"{self.name} is missing"] if self.indicator else []
        return [*(f"{self.name} = {value}" for value in self.categories), *rare, *missing]


class WordsColumn(_Frozen):
    """A column of texts: a feature for each word, 1 where a text has it."""

    kind: Literal["words"] = "words"
    name: str
    words: tuple[str, ...] = Field(min_length=1)

    @property
    def width(self) -> int:
        """Return how many features it makes."""
        return len(self.words)

    @property
    def feature_names(self) -> list[str]:
        """Return a name for each feature that it makes."""
        return [f"{self.name} has {word}" for word in self.words]


Column = Annotated[NumericColumn | CategoricalColumn | WordsColumn, Field(discriminator="kind")]


class Schema(_Frozen):
    """How files became a graph.

    Args:
        kind: ``table`` for columns with names, ``arrays`` for a matrix of features.
        id: the column of ids; None where nodes are numbered by their rows, from 0.
        columns: the feature columns, in the order of the features; empty for arrays.
        num_features: the number of features that they make.
        class_names: the classes, in the order of the model's outputs.
    """

    format: Literal[1] = 1
    kind: Literal["table", "arrays"]
    id: str | None = None
    label: str | None = None
    split_column: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    missing: Missing = "mean"
    columns: tuple[Column, ...] = ()
    num_features: int = Field(ge=1)
    class_names: tuple[str, ...]

    @property
    def feature_names(self) -> list[str] | None:
        """Return what the features are called; None where they have no names."""
        return [name for column in self.columns for name in column.feature_names] or None


def read_schema(path: Path) -> Schema:
    """Read a schema that a run folder holds."""
    try:
        return Schema.model_validate_json(read_text(path))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; train again") from None
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise DataError(f"{path}: damaged ({where}: {problem['msg']}); train again") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: damaged (not UTF-8); train again") from None


def write_schema(path: Path, schema: Schema) -> None:
    """Write a schema as JSON."""
    path.write_text(schema.model_dump_json(indent=2) + "\n", encoding="utf-8")
