"""Settings of what a network sees of a graph."""

from pydantic import Field

from ppro.parts.choices import FeatureNorm, Normalisation
from ppro.settings.groups import Group


class InputSettings(Group):
    """How features and edges are prepared."""

    feature_norm: FeatureNorm = Field(
        default="row",
        description="row: absolute values of a row sum to one; unit: a row has length one; "
        "none: as given",
    )
    normalisation: Normalisation = Field(default="symmetric", description="of the adjacency matrix")
    self_loops: bool = Field(default=True, description="add self-loops to the adjacency matrix")
