"""PPro as a module: features and edges in, logits out, and both losses of Algorithm 1."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ppro.compute.layers import generators
from ppro.compute.ranks import ALONE
from ppro.errors import SettingsError
from ppro.nn import losses
from ppro.nn.batched import PProNetwork
from ppro.nn.module_backbone import AnyBackbone, build, settings_class, steps_of
from ppro.nn.module_checks import check_inputs, check_mask, check_sizes, labels_of_pass
from ppro.nn.module_influence import influence as influence_of
from ppro.nn.module_inputs import (
    EdgeAdjacency,
    StreamNoise,
    TensorFeatures,
    TensorInputs,
    WeightedSum,
)
from ppro.nn.module_settings import read_keywords
from ppro.nn.network import Rows
from ppro.nn.part import NetworkSizes
from ppro.nn.priority import measures_of

Criterion = Callable[[Tensor, Tensor], Tensor]
"""C(y, ŷ) of each node, from logits ``[m, c]`` and labels ``[m]`` to ``[m]``."""
Mask = Tensor | slice | None
"""Nodes as a mask ``[n]``, as numbers ``[m]`` or as a slice; None for all."""


class PPro(nn.Module):
    """A graph neural network in which each node has a number of steps and a priority of its own.

    It is the network that ``fit`` trains, for a loop of one's own::

        logits = model(x, edge_index)                                    # lines 3-8
        model.backbone_loss(logits, y, train_mask).backward()            # line 9, then a step of θ
        model.controller_loss(x, edge_index, y, train_mask).backward()   # 10-11, a step of φ

    Each loss has a gradient for its own parameters alone.

    Args:
        in_channels: number of features.
        hidden_channels: width of the embeddings.
        out_channels: number of classes.
        num_steps: L, the largest number of steps. Convolutions decide it themselves: each but the
            first, which gives h^(0), is a step.
        backbone: a name such as "appnp", a BasicGNN of PyTorch Geometric, a list of convolutions, a
            subclass of :class:`~ppro.nn.backbones.Backbone`, or a module that has ``embed``,
            ``step`` and ``classify`` (:class:`~ppro.nn.module_backbone.OwnBackbone`). Modules are
            held as they are.
        strategy: how nodes choose their step: "l2b", "l2u", "none" or one of one's own.
        dropout: rate for features and hidden layer in training mode.
        criterion: C(y, ŷ) of each node, such as ``nn.CrossEntropyLoss(reduction="none")``, the
            default.
        **settings: settings of the controllers (``epsilon``, ``lambda1``, ``lambda2``,
            ``measures`` and all others of :class:`~ppro.settings.controllers.ControllerSettings`),
            of the backbone (``alpha`` ...), ``normalisation`` and ``self_loops``.

    Attributes:
        steps: l of each node in the last forward pass. Shape ``[n]``.
        priorities: its priority w. Shape ``[n]``.
    """

    steps: Tensor
    priorities: Tensor

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_steps: int | None = None,
        backbone: AnyBackbone = "appnp",
        strategy: str = "l2b",
        *,
        dropout: float = 0.5,
        criterion: Criterion | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        check_sizes(in_channels=in_channels, out_channels=out_channels)
        sizes = {"hidden": hidden_channels, "max_steps": steps_of(backbone, num_steps)}
        own, chosen = read_keywords(
            settings_class(backbone), settings, **sizes, strategy=strategy, dropout=dropout
        )
        self.dropout, self.strategy, self.num_steps = dropout, strategy, own.max_steps
        self.measures, self._graph = chosen.controllers.measures, chosen.inputs
        self.in_channels, self._usual_labels = in_channels, criterion is None
        # Initial weights come from generators of the CPU, whatever device is the default.
        with torch.device("cpu"):
            seed = int(torch.randint(2**31 - 1, ()))
            made_for = NetworkSizes(generators([seed]), in_channels, out_channels)
            self.network = PProNetwork.around(build(backbone, made_for, own), made_for, [chosen])
            if criterion is not None:
                self.network.criterion = PerNode(criterion)
        if isinstance(backbone, str | type):
            self.network.to(torch.get_default_device())
        self.weighted_sum = WeightedSum()
        self.steps, self.priorities = torch.empty(0, dtype=torch.int64), torch.empty(0)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        *,
        influence: Tensor | None = None,
    ) -> Tensor:
        """Lines 3-8 of Algorithm 1: propagate, choose a step for each node, weigh it, classify.

        Args:
            x: features, dense or sparse CSR. Shape ``[n, in_channels]``.
            edge_index: sources and targets; both directions of an undirected edge. ``[2, E]``.
            edge_weight: Shape ``[E]``; None for 1.
            influence: what :func:`ppro.nn.influence` says of these nodes, where they are part of a
                larger graph; by default that of these edges.

        Returns:
            Logits. Shape ``[n, out_channels]``.
        """
        self._check(x, edge_index, edge_weight)
        inputs = self._inputs(x, edge_index, edge_weight, influence)
        nodes = torch.arange(x.shape[0], device=x.device).unsqueeze(0)
        valid = torch.ones_like(nodes, dtype=x.dtype)
        rows = Rows(nodes, torch.zeros_like(nodes), valid, whole=True)
        outcome = self.network(inputs, rows, self._noise(x))
        self.steps, self.priorities = outcome.steps[0], outcome.weights[0]
        logits: Tensor = outcome.logits[0]
        return logits

    def backbone_loss(self, logits: Tensor, y: Tensor, mask: Mask = None) -> Tensor:
        """L_g (Eq. 13) with the priorities of the last forward pass; its gradient reaches θ.

        Args:
            logits: of that pass. Shape ``[n, c]``.
            y: labels of its nodes, -1 where there is none. Shape ``[n]``.
            mask: the nodes to learn from; those without a label are left out.

        Returns:
            A number; 0 where no node has a label.
        """
        if logits.shape[0] != self.priorities.shape[0]:
            raise SettingsError(
                f"logits of {logits.shape[0]} nodes, but the last forward pass weighed "
                f"{self.priorities.shape[0]}; take the loss before the next pass, with all its rows"
            )
        y = labels_of_pass(y, logits.shape[0], usual=self._usual_labels)
        nodes = labelled(y, mask)
        if nodes.shape[0] == 0:
            return logits[:0].sum()
        error = self.network.criterion(logits[nodes].unsqueeze(0), y[nodes].unsqueeze(0))
        weight = self.priorities[nodes].unsqueeze(0)
        valid = torch.ones_like(weight)
        weight = self.network.scaled(weight, valid)
        return losses.weighted_loss(error, weight, self.network.lambda1, valid)[0]

    def controller_loss(
        self,
        x: Tensor,
        edge_index: Tensor,
        y: Tensor,
        mask: Mask = None,
        edge_weight: Tensor | None = None,
        *,
        influence: Tensor | None = None,
    ) -> Tensor:
        """L_Controller (Eq. 14), lines 10-11: a second pass with the new θ, now teaching φ.

        Args:
            y: labels of all nodes, -1 where there is none. Shape ``[n]``.
            mask: the nodes to learn from; those without a label are left out.

        Returns:
            A number; 0 where no node has a label.
        """
        self._check(x, edge_index, edge_weight)
        y = labels_of_pass(y, x.shape[0], usual=self._usual_labels)
        nodes = labelled(y, mask)
        phi = self.controller_parameters()
        nothing = _zero(phi, x)
        if not phi or nodes.shape[0] == 0:
            return nothing
        inputs = self._inputs(x, edge_index, edge_weight, influence)
        valid = torch.ones_like(nodes, dtype=x.dtype)
        rows = Rows(nodes.unsqueeze(0), y[nodes].unsqueeze(0), valid.unsqueeze(0))
        return self.network.controller_loss(inputs, rows, self._noise(x))[0] + nothing

    def backbone_parameters(self) -> list[nn.Parameter]:
        """Return θ: the backbone, which :meth:`backbone_loss` teaches."""
        followed = {id(p) for p in self.network.statistics()}
        return [p for p in self.network.theta() if id(p) not in followed]

    def controller_parameters(self) -> list[nn.Parameter]:
        """Return φ: both controllers, which :meth:`controller_loss` teaches."""
        kept = None if self.network.controllers is None else self.network.controllers.mean_weight
        return [p for p in self.network.phi() if p is not kept]

    def extra_repr(self) -> str:
        """Return what ``print`` shows besides the parts."""
        return f"strategy={self.strategy!r}, num_steps={self.num_steps}, dropout={self.dropout}"

    def _check(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> None:
        check_inputs(x, edge_index, edge_weight, self.in_channels, self.network.lambda1.dtype)

    def _noise(self, x: Tensor) -> StreamNoise | None:
        return StreamNoise.of(self.dropout, x) if self.training else None

    def _inputs(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_weight: Tensor | None,
        influence: Tensor | None,
    ) -> TensorInputs:
        if influence is None:
            influence = influence_of(edge_index, x.shape[0], self.measures)
        columns = len(measures_of(self.measures)[0])
        if influence.shape != (x.shape[0], columns):
            raise SettingsError(
                f"influence has shape {tuple(influence.shape)}, not {(x.shape[0], columns)}: a row "
                "for each node of x, a column for each measure; see ppro.nn.influence"
            )
        adjacency = EdgeAdjacency(
            self.weighted_sum,
            edge_index,
            edge_weight,
            x.shape[0],
            self.network.lambda1.dtype,
            normalisation=self._graph.normalisation,
            self_loops=self._graph.self_loops,
        )
        # torch.compile does not read the default of a dataclass, so ranks are given.
        return TensorInputs(TensorFeatures(x), adjacency, influence.to(x.dtype), ranks=ALONE)


class PerNode(nn.Module):
    """A criterion of the user's as the network calls it: for one run."""

    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        self.criterion = criterion

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return C of each row. Shapes: ``[1, m, c]`` and ``[1, m]`` to ``[1, m]``."""
        error = self.criterion(logits[0], labels[0])
        if error.shape != logits.shape[1:2]:
            raise SettingsError(
                f"the criterion gives shape {tuple(error.shape)} for {logits.shape[1]} nodes; it "
                "must give a number for each, for example with reduction='none'"
            )
        return error.unsqueeze(0)


def labelled(y: Tensor, mask: Mask) -> Tensor:
    """Return the numbers of the nodes of a mask that have a label. Shape ``[m]``."""
    nodes = torch.arange(y.shape[0], device=y.device)
    check_mask(mask, y.shape[0])
    if mask is not None:
        nodes = nodes[mask]
    if y.is_floating_point() or y.dim() > 1:
        return nodes
    return nodes[y[nodes] >= 0]


def _zero(parameters: Sequence[nn.Parameter], x: Tensor) -> Tensor:
    """Return 0 with a gradient of 0 for the parameters; for nothing where there are none."""
    if not parameters:
        return torch.zeros((), dtype=x.dtype, device=x.device, requires_grad=True)
    return torch.stack([p[:0].sum() for p in parameters]).sum()
