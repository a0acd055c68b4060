"""The settings that differ between the runs of a batch, as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ppro.compute.features import FEATURE_SITE
from ppro.compute.noise import Noise
from ppro.nn.backbones.base import STATE_SITE
from ppro.settings.settings import Settings


@dataclass(frozen=True, eq=False)
class RunValues:
    """The settings that differ between runs, one value per run. All of shape ``[R]``."""

    seeds: Tensor
    dropout: Tensor
    edge_dropout: Tensor
    node_dropout: Tensor
    dropout_of_features: Tensor
    state_dropout: Tensor
    consistency: Tensor
    consistency_temperature: Tensor
    fading: Tensor
    lr: Tensor
    lr_controller: Tensor
    weight_decay: Tensor
    decay_of_steps: Tensor

    @classmethod
    def stack(cls, settings: Sequence[Settings], device: torch.device) -> RunValues:
        """Collect them from the settings of every run."""

        def column(key: str, dtype: torch.dtype = torch.float32) -> Tensor:
            flat = [s.seed if key == "seed" else _value(s, key) for s in settings]
            return torch.tensor(flat, dtype=dtype, device=device)

        keys = [name for name in cls.__dataclass_fields__ if name != "seeds"]
        seeds = Noise.hashed_seeds(column("seed", torch.int64))
        return cls(seeds, *(column(key) for key in keys))

    def select(self, runs: Tensor) -> RunValues:
        """Return the values of some of the runs."""
        return RunValues(*(getattr(self, name)[runs] for name in self.__dataclass_fields__))


def sites_apart(settings: Sequence[Settings]) -> dict[int, str]:
    """Return the sites whose dropout rate is not the usual one in some run, with its name here."""
    found = {}
    if any(s.training.feature_dropout is not None for s in settings):
        found[FEATURE_SITE] = "dropout_of_features"
    if any(s.training.state_dropout > 0 for s in settings):
        found[STATE_SITE] = "state_dropout"
    return found


def _value(settings: Settings, key: str) -> float:
    group = settings.controllers if key == "lr_controller" else settings.training
    return float(getattr(group, key))
