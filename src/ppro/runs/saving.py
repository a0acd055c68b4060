"""Fitted estimators on disk: JSON and safetensors out, and back in from those or from a run folder.

Nothing that is read is ever executed. A model around your own modules is saved without them:
loading takes the modules again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from ppro.compute.device import find_device
from ppro.data.splits import Splits
from ppro.errors import RunError
from ppro.files import dump_json, is_taken, whole_folder
from ppro.runs.estimator import PProClassifier
from ppro.runs.run_estimator import from_run
from ppro.runs.runfolder import read_weights, write_weights
from ppro.settings.explain import explain
from ppro.settings.settings import Settings
from ppro.training.assembly import OwnBackbone, build_model

FORMAT = 1
MARKER = "estimator.json"
FITTED = "fitted.safetensors"


class SavedEstimator(BaseModel):
    """What ``estimator.json`` holds.

    Args:
        params: the parameters of the estimator, apart from modules of the user's own.
        settings: those of every run.
        own_backbone: the user's own backbone in words, or None.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int = FORMAT
    version: str = version("ppro")
    params: dict[str, Any]
    settings: list[Settings] = Field(min_length=1)
    classes: list[StrictBool] | list[StrictInt] | list[StrictStr]
    num_features: int = Field(ge=1)
    best_run: int = Field(ge=0)
    validation_score: float
    interrupted: bool
    split: str
    own_backbone: str | None = None


def save(estimator: PProClassifier, folder: Path) -> None:
    """Write a fitted estimator; see :meth:`ppro.PProClassifier.save`."""
    check_is_fitted(estimator)
    if is_taken(folder):
        raise RunError(f"{folder}: already exists; choose another folder or remove it")
    saved = SavedEstimator(
        params=_plain_params(estimator),
        settings=list(estimator.settings_),
        classes=estimator.classes_.tolist(),
        num_features=estimator.n_features_in_,
        best_run=estimator.best_run_,
        validation_score=estimator.validation_score_,
        interrupted=estimator.interrupted_,
        split=estimator.splits_.name,
        own_backbone=_in_words(estimator.backbone),
    )
    try:
        with whole_folder(folder) as staging:
            text = dump_json(saved.model_dump(), indent=2)
            (staging / MARKER).write_text(text + "\n", encoding="utf-8")
            write_weights(staging / "weights.safetensors", estimator.model_)
            content = {name: value.contiguous() for name, value in _fitted(estimator).items()}
            (staging / FITTED).write_bytes(to_bytes(content, metadata={"format": str(FORMAT)}))
    except OSError as error:
        reason = f"cannot be written ({error.strerror or error})"
        raise RunError(f"{folder}: {reason}; make room or choose another folder") from None


def load(
    run: Path | str, *, backbone: OwnBackbone | None = None, device: str | torch.device = "auto"
) -> PProClassifier:
    """A fitted estimator from a folder that ``save`` or ``ppro train`` wrote.

    It predicts what the saved one did. From the folder of ``ppro train`` it has no ``embedding_``
    and no ``splits_``; :meth:`ppro.PProClassifier.describe` embeds any graph.

    Args:
        run: the folder.
        backbone: your own backbone, where the model was trained around one: the same class,
            model or convolutions, with any weights.
        device: auto, cpu, cuda or cuda:N.

    Raises:
        RunError: the folder is missing something, damaged, or a newer version wrote it.
    """
    run, place = Path(run), find_device(device)
    if not (run / MARKER).exists():
        return from_run(run, place)
    saved = _read(run / MARKER)
    _check_backbone(run, saved, backbone)
    estimator = PProClassifier(**_params(saved.params))
    if backbone is not None:
        estimator.set_params(backbone=backbone)
    sizes = saved.num_features, len(saved.classes)
    estimator.model_ = build_model(*sizes, saved.settings, place, backbone)
    read_weights(run, estimator.model_)
    estimator.settings_, estimator.best_run_ = tuple(saved.settings), saved.best_run
    estimator.classes_, estimator.n_features_in_ = np.array(saved.classes), saved.num_features
    estimator.validation_score_ = saved.validation_score
    estimator.interrupted_ = saved.interrupted
    _set_fitted(estimator, _tensors(run / FITTED), saved.split)
    return estimator


def _read(path: Path) -> SavedEstimator:
    try:
        saved = SavedEstimator.model_validate_json(path.read_bytes())
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror})") from None
    except ValidationError as error:
        raise RunError(
            f"{explain(error, str(path), tuple(SavedEstimator.model_fields))}; save it again"
        ) from None
    if saved.format != FORMAT:
        raise RunError(
            f"{path}: format {saved.format}, but this version reads format {FORMAT}; "
            "use the version of ppro that wrote it"
        )
    return saved


def _check_backbone(run: Path, saved: SavedEstimator, given: OwnBackbone | None) -> None:
    if saved.own_backbone is not None and given is None:
        raise RunError(
            f"{run}: trained around a backbone of your own, which is not saved; give it again: "
            f"ppro.load(…, backbone={saved.own_backbone})"
        )
    if saved.own_backbone is None and given is not None:
        named = saved.settings[0].backbone
        raise RunError(f"{run}: trained around {named}; leave the argument backbone out")


def _in_words(backbone: str | OwnBackbone | None) -> str | None:
    if backbone is None or isinstance(backbone, str):
        return None
    if isinstance(backbone, type):
        return backbone.__qualname__
    return " ".join(repr(backbone).split())


def _plain_params(estimator: PProClassifier) -> dict[str, Any]:
    """The parameters as JSON knows them; a dict of class weights becomes pairs."""
    params: dict[str, Any] = estimator.get_params(deep=False)
    own = not isinstance(params["backbone"], str)
    weights, settings = params["class_weight"], params["settings"]
    if isinstance(weights, Mapping):
        weights = [[_scalar(key), float(value)] for key, value in weights.items()]
    if settings is not None:
        settings = settings.model_dump() if isinstance(settings, Settings) else dict(settings)
    state = params["random_state"]
    return {
        **{key: _scalar(value) for key, value in params.items()},
        "backbone": None if own else params["backbone"],
        "class_weight": weights,
        "settings": settings,
        # A generator has moved on by now; the seed that it gave is in the settings.
        "random_state": state if state is None else estimator.settings_[0].seed,
        "device": str(params["device"]),
    }


def _params(plain: Mapping[str, Any]) -> dict[str, Any]:
    weights = plain.get("class_weight")
    if isinstance(weights, Sequence) and not isinstance(weights, str):
        return {**plain, "class_weight": dict(weights)}
    return dict(plain)


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _fitted(estimator: PProClassifier) -> dict[str, Tensor]:
    """What the estimator knows of the graph it was fitted to."""
    nodes = {
        "steps": estimator.propagation_steps_,
        "priorities": estimator.node_priorities_,
        "embedding": estimator.embedding_,
        **{f"history.{name}": values for name, values in estimator.history_.items()},
    }
    splits = estimator.splits_
    masks = {"train": splits.train, "val": splits.val, "test": splits.test}
    arrays = {name: torch.from_numpy(np.ascontiguousarray(v)) for name, v in nodes.items()}
    return arrays | {f"splits.{part}": mask for part, mask in masks.items()}


def _set_fitted(estimator: PProClassifier, found: Mapping[str, Tensor], split: str) -> None:
    estimator.propagation_steps_ = found["steps"].numpy()
    estimator.node_priorities_ = found["priorities"].numpy()
    estimator.embedding_ = found["embedding"].numpy()
    names = [name for name in found if name.startswith("history.")]
    estimator.history_ = {name.removeprefix("history."): found[name].numpy() for name in names}
    masks = (found[f"splits.{part}"] for part in ("train", "val", "test"))
    estimator.splits_ = Splits(split, *masks)


def _tensors(path: Path) -> dict[str, Tensor]:
    try:
        found: dict[str, Tensor] = load_file(str(path))
    except FileNotFoundError:
        raise RunError(f"{path}: missing; save the estimator again") from None
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: damaged ({error}); save the estimator again") from None
    return found
