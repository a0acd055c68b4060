"""Settings as the records of results have them."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ppro.errors import SettingsError
from ppro.settings.settings import PPRO, Settings


def by_settings(record: Mapping[str, Any]) -> dict[Settings, dict[str, Any]]:
    """Return what the results of a record say, by the settings that they are of."""
    known = {"method", "settings"}
    return {
        settings: {key: value for key, value in result.items() if key not in known}
        for result in record.get("results", ())
        if (settings := read_settings(result["settings"])) is not None
    }


def json_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that have a value, under their flat names, as JSON gives them back."""
    given = {key: value for key, value in settings.flat().items() if value is not None}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in given.items()}


def read_settings(
    values: Mapping[str, Any], changes: Mapping[str, Any] | None = None
) -> Settings | None:
    """Return settings of a record, with some changed; None where one of them is not known."""
    # Version 0.1 wrote down a bias for rivals too, which have no propagation head.
    left_out = {"propagation_bias"} if values.get("model", PPRO) != PPRO else set()
    given = {key: value for key, value in values.items() if key not in left_out}
    try:
        return Settings.read({**given, **(changes or {})})
    except (ValidationError, SettingsError):
        return None
