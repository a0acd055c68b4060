"""``settings.toml`` of a run folder: what was trained, and what opening it needs."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

from ppro.data.files import FileSource
from ppro.errors import RunError, SettingsError
from ppro.files import MARKER, read_text
from ppro.parts import BACKBONES, JUDGES, MEASURES, METRICS, RIVALS, STRATEGIES
from ppro.runs.problems import reading
from ppro.settings.explain import explain
from ppro.settings.limits import MOST_RUNS
from ppro.settings.recipe import PaperResult
from ppro.settings.settings import PPRO, Settings, parse_settings, without_foreign

FORMAT = 2
FIRST_FORMAT = 1
"""That of version 0.1, which this version still reads."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Trained(_Table):
    """What came out of a training, as far as opening it needs to know.

    Args:
        classes: in the order of the model's outputs, as the labels wrote them.
        feature_names: None where the features have no names.
        best_run: the run with the best validation score.
        own_backbone: the user's own module in words; it is not saved.
        own_parts: the parts that a script of the user defines, such as "strategy mine".
    """

    num_features: int = Field(ge=1, lt=2**31)
    classes: list[StrictBool] | list[StrictInt] | list[StrictStr]
    feature_names: list[str] | None = None
    best_run: int = Field(default=0, ge=0)
    own_backbone: str | None = None
    own_parts: list[str] = Field(default_factory=list)


class RunConfig(_Table):
    """What ``settings.toml`` holds: enough to make the run again.

    Args:
        trained: None while it is being trained.
        estimator: the parameters of the estimator, where one was saved.
    """

    format: int = FORMAT
    dataset: str
    split: str
    runs: int = Field(ge=1, le=MOST_RUNS)
    options: dict[str, float] = Field(default_factory=dict)
    settings: Settings
    paper: PaperResult | None = None
    source: FileSource | None = None
    trained: Trained | None = None
    estimator: dict[str, Any] | None = None


def run_settings(config: RunConfig) -> list[Settings]:
    """Return the settings of each run: run r has seed + r."""
    return [config.settings.replace(seed=config.settings.seed + r) for r in range(config.runs)]


def write_config(folder: Path, config: RunConfig) -> None:
    """Write ``settings.toml``, every setting spelled out."""
    text = tomli_w.dumps({**config.model_dump(exclude_none=True), "format": FORMAT})
    (folder / MARKER).write_text(text, encoding="utf-8")


def read_config(folder: Path) -> RunConfig:
    """Read ``settings.toml`` of a run folder or a checkpoint.

    Raises:
        RunError: there is none, it is damaged, a newer version wrote it, or it names a part of
            the user's own that no script has defined.
    """
    path = folder / MARKER
    if not os.path.lexists(path):
        raise RunError(
            f"{folder}: not a run folder (no {MARKER}); give one that ppro train or save wrote"
        )
    with reading(path):
        values = tomllib.loads(read_text(path))
    found = values.get("format")
    if found not in (FIRST_FORMAT, FORMAT):
        raise RunError(
            f"{path}: format {found}, but this version reads format {FORMAT} and older ones; "
            "train again, or use the version of ppro that wrote it"
        )
    try:
        given = values.get("settings")
        if isinstance(given, Mapping):
            values["settings"] = parse_settings(without_foreign(given), str(path), "settings")
        return RunConfig.model_validate(values)
    except SettingsError as error:
        raise RunError(str(error)) from None
    except ValidationError as error:
        raise RunError(explain(error, str(path), tuple(RunConfig.model_fields))) from None


def own_parts(settings: Settings) -> list[str]:
    """Return the parts of some settings that a script of the user defines: kind and name."""
    is_ppro = settings.model == PPRO
    named = [
        (STRATEGIES, settings.strategy),
        (BACKBONES, settings.backbone) if is_ppro else (RIVALS, settings.model),
        (METRICS, settings.training.metric),
        (JUDGES, settings.controllers.judges),
        *((MEASURES, measure) for measure in settings.controllers.measures),
    ]
    package = __name__.partition(".")[0]
    return [
        f"{registry.kind} {name}"
        for registry, name in named
        if registry.get(name).__module__.partition(".")[0] != package
    ]
