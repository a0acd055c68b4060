"""Fitted estimators on disk: a run folder with the parameters of the estimator in it.

Nothing that is read is ever executed. A model around your own modules is saved without them:
loading takes the modules again.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from ppro.compute.device import find_device
from ppro.compute.precision import as_by_default
from ppro.errors import RunError
from ppro.files import is_taken
from ppro.runs.estimator import PProClassifier
from ppro.runs.opening import open_run
from ppro.runs.writing import write_run
from ppro.settings.settings import Settings
from ppro.training.assembly import OwnBackbone


def save(estimator: PProClassifier, folder: Path) -> None:
    """Write a fitted estimator; see :meth:`ppro.PProClassifier.save`."""
    check_is_fitted(estimator)
    if is_taken(folder):
        raise RunError(f"{folder}: already exists; choose another folder or remove it")
    run = estimator.run_
    config = run.config.model_copy(update={"estimator": _plain_params(estimator)})
    write_run(folder, replace(run, config=config), option="folder")


@as_by_default()
def load(
    run: Path | str, *, backbone: OwnBackbone | None = None, device: str | torch.device = "auto"
) -> PProClassifier:
    """Return a fitted estimator from a folder that ``save`` or ``ppro train`` wrote.

    It predicts what the saved one did.

    Args:
        run: the folder.
        backbone: your own backbone, where the model was trained around one: the same class,
            model or convolutions, with any weights.
        device: auto, cpu, cuda or cuda:N.

    Raises:
        RunError: the folder is missing something, damaged, or a newer version wrote it.
    """
    saved, place = open_run(run), find_device(device)
    config = saved.config
    params = config.estimator or {"n_runs": config.runs, "settings": config.settings}
    if backbone is not None:
        params = {**params, "backbone": backbone}
    return PProClassifier.of_run(saved.whole(place, backbone), **_params(params))


def _plain_params(estimator: PProClassifier) -> dict[str, Any]:
    """Return the parameters as TOML has them; a dict of class weights becomes pairs."""
    params: dict[str, Any] = estimator.get_params(deep=False)
    weights, settings = params["class_weight"], params["settings"]
    if isinstance(weights, Mapping):
        params["class_weight"] = [[key, float(value)] for key, value in weights.items()]
    if isinstance(settings, Settings):
        params["settings"] = settings.flat()
    if not isinstance(params["backbone"], str):
        params["backbone"] = None
    if params["random_state"] is not None:
        # A generator has moved on by now; the seed that it gave is in the settings.
        params["random_state"] = estimator.settings_[0].seed
    found: dict[str, Any] = _plain({**params, "device": str(params["device"])})
    return found


def _plain(value: Any) -> Any:
    """Return a value without NumPy's types, and without entries that are None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.item() if isinstance(value, np.generic) else value


def _params(plain: Mapping[str, Any]) -> dict[str, Any]:
    weights = plain.get("class_weight")
    return {**plain, **({"class_weight": dict(weights)} if isinstance(weights, list) else {})}
