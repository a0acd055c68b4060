"""The keywords of the module, checked as the settings that they are."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ppro.errors import SettingsError
from ppro.parts import nearest
from ppro.settings.controllers import ControllerSettings
from ppro.settings.explain import explain
from ppro.settings.groups import NetworkSettings
from ppro.settings.inputs import InputSettings
from ppro.settings.settings import Settings, parse_settings

WHERE = "PPro"
OF_TRAINING = {
    *("lr_controller", "judge_share", "consistency_on"),
    *("feature_norm", "feature_shift", "feature_spread", "feature_length", "direction"),
}
"""Settings of these groups that the caller's own loop decides."""
OF_COMPARING = {
    *("teaching", "judges", "judge_folds", "judge_every", "start", "warm_up", "settle", "kappa"),
    "controller_decay",
}
"""Settings of controllers that compare: their judges are part of the trainer."""


def read_keywords(
    network: type[NetworkSettings], given: Mapping[str, Any], **fixed: Any
) -> tuple[NetworkSettings, Settings]:
    """Return the settings of a backbone, and all others.

    Args:
        network: the class of the backbone's settings.
        given: keywords of the caller.
        fixed: ``hidden``, ``max_steps``, ``strategy`` and ``dropout``, which the module names.

    Raises:
        SettingsError: a keyword is unknown or a value out of range.
    """
    shared = {*ControllerSettings.model_fields} | {*InputSettings.model_fields}
    shared -= OF_TRAINING | OF_COMPARING
    allowed = sorted(shared | {*network.model_fields} - {*fixed})
    for key in given:
        if key in OF_COMPARING:
            raise SettingsError(
                f"{WHERE}: {key} is for ppro.fit and ppro.PPro, whose trainer has judges; a module "
                "learns as the paper says, so leave it out"
            )
        if key not in allowed:
            raise SettingsError(f"{WHERE}: unknown keyword {key!r}; {nearest(key, allowed)}")
    others = {key: value for key, value in given.items() if key in shared}
    own = {key: value for key, value in given.items() if key not in shared}
    sizes = {key: fixed.pop(key) for key in ("hidden", "max_steps")}
    try:
        made = network(**sizes, **own)
    except ValidationError as error:
        raise SettingsError(explain(error, WHERE, allowed)) from None
    as_in_paper = {"max_steps": made.max_steps, "teaching": "paper"}
    return made, parse_settings({**as_in_paper, **fixed, **others}, WHERE)
