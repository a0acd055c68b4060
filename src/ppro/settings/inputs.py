"""Settings of what a network sees of a graph."""

from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from ppro.parts.choices import Direction, FeatureForm, FeatureNorm, Normalisation
from ppro.settings.groups import Group, Positive


class InputSettings(Group):
    """How features and edges are prepared."""

    feature_norm: FeatureNorm = Field(
        default="row",
        description="row: absolute values of a row sum to one; unit: a row has length one; "
        "none: as given",
    )
    feature_shift: tuple[float, ...] = Field(
        default=(),
        description="what is taken from every column of the features before; one number is for all",
    )
    feature_spread: tuple[Positive, ...] = Field(
        default=(), description="what every column is divided by after that; one number is for all"
    )
    feature_length: Positive = Field(
        default=1.0, description="length of a row under feature_norm=unit"
    )
    normalisation: Normalisation = Field(default="symmetric", description="of the adjacency matrix")
    self_loops: bool = Field(default=True, description="add self-loops to the adjacency matrix")

    direction: Direction = Field(
        default="both",
        description="of edges that have one; both: they are read both ways; in: a node reads from "
        "those that point to it; out: from those it points to",
    )

    @model_serializer(mode="wrap")
    def _without_usual_direction(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave the usual direction out of files: those of undirected graphs stay as they were."""
        found: dict[str, Any] = handler(self)
        if self.direction == "both":
            found.pop("direction", None)
        return found

    @property
    def form(self) -> FeatureForm:
        """Return how features become what a network sees."""
        columns = self.feature_shift, self.feature_spread
        return FeatureForm(self.feature_norm, *columns, self.feature_length)
