"""The peer: networks of PyTorch Geometric, written as its docs do and as an expert would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F

from ppro.compute.features import normalised
from ppro.data import Splits
from ppro.graph.core import Graph
from ppro.paper.bench.peer_nets import NETS, csr_of
from ppro.settings.settings import Settings

REASON = 120
"""Characters of an error that are shown where a form could not be made."""


@dataclass(frozen=True)
class PeerForm:
    """One way to write the peer.

    Args:
        name: as the page shows it.
        expert: a normalisation that is cached, and an optimiser that is one kernel.
        csr: the graph as a CSR matrix, not as a list of edges.
        sparse: features as a sparse matrix, dropout of the stored values alone.
        compiled: all but the first layer through ``torch.compile``.
    """

    name: str
    expert: bool = True
    csr: bool = False
    sparse: bool = False
    compiled: bool = False


DOCUMENTED = PeerForm("documented", expert=False)
FORMS = (
    DOCUMENTED,
    PeerForm("cached"),
    PeerForm("CSR", csr=True),
    PeerForm("sparse X", sparse=True),
    PeerForm("CSR, sparse X", csr=True, sparse=True),
    PeerForm("compiled", compiled=True),
    PeerForm("compiled, sparse X", compiled=True, sparse=True),
)


def forms_for(graph: Graph, device: torch.device, compiled: bool) -> list[PeerForm]:
    """Return the forms that make sense here.

    Args:
        compiled: whether those count that a compiler makes, which takes up to a minute each.
    """
    sparse = graph.features.layout == torch.sparse_csr
    # On a GPU, in turn with our recorded epochs, compiled ones ended in an illegal memory access
    # (PyTorch 2.11), which no program survives.
    on_cpu = compiled and device.type == "cpu"
    return [form for form in FORMS if (sparse or not form.sparse) and (on_cpu or not form.compiled)]


class Peer:
    """Training steps and validation of the peer, one call per epoch."""

    def __init__(
        self,
        graph: Graph,
        splits: Splits,
        settings: Settings,
        device: torch.device,
        form: PeerForm = DOCUMENTED,
    ) -> None:
        x = normalised(graph.features, settings.inputs.feature_norm)
        if x.layout == torch.sparse_csr and not form.sparse:
            x = x.to_dense()
        self.x, self.y = x.to(device), graph.labels.to(device)
        edge_index = graph.edge_index.to(device)
        self.graph = csr_of(edge_index, graph.num_nodes) if form.csr else edge_index
        self.train, self.val = splits.train[0].to(device), splits.val[0].to(device)
        sizes = graph.num_features, graph.num_classes
        self.net = NETS[settings.model](sizes, settings, form.expert).to(device)
        if form.compiled:
            # The normalisation is cached before, for that of a CSR matrix cannot be compiled.
            with torch.no_grad():
                self.net(self.x, self.graph)
            self.net.compile_rest()
        self.optimiser = torch.optim.Adam(
            self._groups(settings), lr=settings.training.lr, fused=form.expert or None
        )

    def _groups(self, settings: Settings) -> list[dict[str, Any]]:
        """Return the first layer, which alone decays, and the others."""
        first = list(self.net.first.parameters())
        known = {id(parameter) for parameter in first}
        others = [p for p in self.net.parameters() if id(p) not in known]
        return [
            {"params": first, "weight_decay": settings.training.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]

    def epoch(self) -> None:
        """One training step and one validation."""
        self.net.train()
        self.optimiser.zero_grad()
        logits = self.net(self.x, self.graph)
        F.cross_entropy(logits[self.train], self.y[self.train]).backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.net.eval()
        with torch.no_grad():
            guess = self.net(self.x, self.graph)[self.val].argmax(-1)
            (guess == self.y[self.val]).float().mean().item()


def make_peers(
    graph: Graph,
    splits: Splits,
    settings: Settings,
    device: torch.device,
    forms: Sequence[PeerForm],
) -> tuple[dict[str, Peer], dict[str, str]]:
    """Return the peer in each form that works here, and why the others do not.

    Every one that is returned has trained an epoch, so that nothing is left to compile.
    """
    made: dict[str, Peer] = {}
    skipped: dict[str, str] = {}
    if any(form.compiled for form in forms):
        # Else a network would not be compiled once others of its class were, too many times.
        torch.compiler.reset()
    for form in forms:
        try:
            peer = Peer(graph, splits, settings, device, form)
            peer.epoch()
        except Exception as error:
            # A compiler that is missing, or a layer that it does not take, fails in many ways.
            if form == DOCUMENTED:
                raise
            told = str(error).strip().splitlines() or [""]
            skipped[form.name] = f"{type(error).__name__}: {told[0]}"[:REASON]
        else:
            made[form.name] = peer
    return made, skipped
