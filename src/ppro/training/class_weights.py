"""Weights of the classes in the losses, for classes of very different sizes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from ppro.errors import SettingsError
from ppro.nn.network import Rows
from ppro.parts import nearest
from ppro.settings.settings import Settings
from ppro.settings.training import BALANCED

ClassWeight = Literal["balanced"] | Sequence[float]
"""``balanced``, or one positive weight for each class."""


def weights_of_settings(settings: Settings, names: Sequence[str]) -> ClassWeight | None:
    """Return the class weights that settings ask for, or None.

    Args:
        names: of the classes.

    Raises:
        SettingsError: there is no class of a name.
    """
    words = settings.training.class_weight
    if not words:
        return None
    if words == (BALANCED,):
        return "balanced"
    given = {name: float(text) for name, _, text in (word.rpartition("=") for word in words)}
    for name in given:
        if name not in names:
            raise SettingsError(f"class_weight: no class {name!r}; {nearest(name, names)}")
    return [given.get(name, 1.0) for name in names]


def class_weights(
    given: ClassWeight | None, labels: Tensor, train: Tensor, num_classes: int
) -> Tensor | None:
    """Return the weight of each class in each run. Shape ``[R, c]``.

    ``balanced`` gives class c of m training nodes in k classes the weight m / (k m_c), as in
    scikit-learn, so that every class has the same share in a loss.

    Args:
        train: training nodes of each run. Shape ``[R, n]``, bool.

    Raises:
        SettingsError: a weight is missing, not positive or not finite.
    """
    if given is None:
        return None
    if isinstance(given, str):
        if given != "balanced":
            raise SettingsError(f"class_weight {given!r}: unknown; use 'balanced' or weights")
        return torch.stack([_balanced(labels[mask], num_classes) for mask in train])
    weights = torch.as_tensor(list(given), dtype=torch.float32)
    if weights.shape != (num_classes,):
        raise SettingsError(
            f"class_weight: {weights.numel()} weights for {num_classes} classes; give one for each"
        )
    if not bool((torch.isfinite(weights) & (weights > 0)).all()):
        raise SettingsError("class_weight: weights must be positive and finite")
    return weights.expand(train.shape[0], -1)


def _balanced(labels: Tensor, num_classes: int) -> Tensor:
    counts = torch.bincount(labels, minlength=num_classes).to(torch.float32)
    present = int((counts > 0).sum())
    return labels.shape[0] / (present * counts.clamp(min=1))


def weighted(rows: Rows, weights: Tensor | None) -> Rows:
    """Return rows whose nodes count in means as much as their classes weigh.

    Every mean over the training nodes becomes Σ w v / Σ w; padding still counts nothing.
    """
    if weights is None:
        return rows
    return replace(rows, valid=rows.valid * weights.to(rows.valid.device).gather(1, rows.labels))
