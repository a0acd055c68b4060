"""What all groups of settings share."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ppro.settings.limits import MOST_STEPS, MOST_WIDTH

Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]


class Group(BaseModel):
    """Settings that belong together, checked and frozen.

    Attributes:
        per_run: those that may differ between the runs of one batch; all others shape the program.
        renamed: names that version 0.1 gave to settings of this group, with their names now.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    per_run: ClassVar[frozenset[str]] = frozenset()
    renamed: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def field(cls, key: str) -> str | None:
        """Return the field that a key of today or of version 0.1 names, or None."""
        key = cls.renamed.get(key, key)
        return key if key in cls.model_fields else None


class NetworkSettings(Group):
    """The settings of a network, subclassed beside each that has more."""

    hidden: int = Field(default=64, ge=1, le=MOST_WIDTH, description="width of the hidden layer")
    max_steps: int = Field(
        default=10,
        ge=0,
        le=MOST_STEPS,
        description="L, the largest number of propagation steps; 0 for the bare backbone alone",
    )
