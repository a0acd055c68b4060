"""Judges of one's own: a referee that knows every other training node and judges the rest."""

import torch

from ppro.training.judges import Judges, Panel


class Referee(Judges):
    """One further backbone for each run, whose own learns from all training nodes."""

    name, title = "referee", "a referee that knows every other training node"

    @classmethod
    def backbones(cls, settings):
        return 1

    @classmethod
    def panel(cls, rows, settings):
        place = torch.arange(rows.nodes.shape[1], device=rows.nodes.device)
        judged = (place % 2 == 0).expand_as(rows.nodes)
        learns = torch.stack([torch.ones_like(judged), ~judged], 1)
        return Panel(learns, view=judged.long(), teaches=judged)
