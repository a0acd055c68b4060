"""Why a node got its class, its step and its priority: what a trained run says step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.insight.attribution import important_features, sees_own_features_only, weight_drivers
from ppro.nn.batched import PProNetwork
from ppro.nn.network import Inputs, Network
from ppro.nn.priority import standardised, titles
from ppro.nn.strategies import Strategy
from ppro.runs.runfolder import RunConfig
from ppro.settings.settings import Settings
from ppro.training.assembly import all_rows, build_model
from ppro.training.fit import NodeTable

OTHER_DRIVERS = ("own embedding h0", "embedding at its step", "step")
"""What the weight controller sees of a node beside z (Eq. 11)."""

TOP_FEATURES = 8
"""How many features are kept of each node."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What one run says of every node.

    Args:
        probabilities: of each class, had the node stopped at step k = 0 … L; for a rival of PPro
            there is one entry, its answer. Shape ``[n, L + 1, c]``.
        steps: where each node stopped: an index into ``probabilities``. Shape ``[n]``.
        decisions: the chance to break (L2B) or to update (L2U) at k = 1 … L, or None where
            nothing decides. Shape ``[n, L]``.
        priorities: w (Eq. 11), or None without a weight controller. Shape ``[n]``.
        measures: z, or None without controllers. Shape ``[n, measures]``.
        drivers: gradient x input of w for each of its inputs. Shape ``[n, measures + 3]``.
        measure_names: what the measures are called.
        feature_index: the node's features that speak most for or against its predicted class,
            the strongest first, or None where the first layer sees neighbours. Shape ``[n, t]``.
        feature_score: gradient x input of each of them; 0 is padding. Shape ``[n, t]``.
    """

    probabilities: Tensor
    steps: Tensor
    decisions: Tensor | None = None
    priorities: Tensor | None = None
    measures: Tensor | None = None
    drivers: Tensor | None = None
    feature_index: Tensor | None = None
    feature_score: Tensor | None = None
    measure_names: tuple[str, ...] = ()

    @property
    def driver_names(self) -> tuple[str, ...]:
        """What the weight controller sees of a node (Eq. 11)."""
        return (*self.measure_names, *OTHER_DRIVERS)

    @property
    def by_step(self) -> Tensor:
        """The class predicted at every step. Shape ``[n, L + 1]``."""
        return self.probabilities.argmax(-1)

    @property
    def final(self) -> Tensor:
        """Class probabilities at each node's own step. Shape ``[n, c]``."""
        return self.probabilities[torch.arange(self.steps.shape[0]), self.steps]

    @property
    def predicted(self) -> Tensor:
        """The class that the run predicts. Shape ``[n]``."""
        return self.final.argmax(-1)


@dataclass(frozen=True, eq=False)
class ExplainedRun:
    """A saved batch of runs on its graph, one of them explained.

    Args:
        table: what every run says of every node.
        index: the run that is explained.
        feature_names: names of the features, or None where they have none.
    """

    config: RunConfig
    graph: Graph
    splits: Splits
    table: NodeTable
    index: int
    explanation: Explanation
    feature_names: tuple[str, ...] | None = None


class Recorder(Strategy):
    """Watches another selector at every step, and keeps what it and the classifier would say.

    Args:
        inner: the selector that decides.
        classify: class probabilities of embeddings.
    """

    def __init__(self, inner: Strategy, classify: Callable[[Tensor], Tensor]) -> None:
        super().__init__(inner.view)
        self.inner, self.classify = inner, classify
        self.h0 = inner.h_tilde
        self.first_aggregate = self.h0
        self.probabilities = [classify(self.h0)]
        self.decisions: list[Tensor] = []

    def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
        """Take note of step k, then let the other decide."""
        if k == 1:
            self.first_aggregate = evidence[..., : h.shape[-1]]
        self.probabilities.append(self.classify(h))
        if (chance := self.inner.chance(h, evidence)) is not None:
            self.decisions.append(chance)
        self.inner.observe(k, h, evidence, last=last)
        self.h_tilde, self.steps = self.inner.h_tilde, self.inner.steps


def explain_nodes(model: Network, inputs: Inputs, graph: Graph) -> Explanation:
    """What a model of one run says of every node, without dropout."""
    if isinstance(model, PProNetwork):
        return _explain_ppro(model, inputs, graph)
    with torch.no_grad():
        logits = model(inputs, all_rows(graph, 1, inputs.influence.device)).logits
    answer = logits.softmax(-1)[0].unsqueeze(1).cpu()
    return Explanation(answer, torch.zeros(graph.num_nodes, dtype=torch.int64))


@torch.no_grad()
def _explain_ppro(model: PProNetwork, inputs: Inputs, graph: Graph) -> Explanation:
    recorder, weights = _recorded(model, inputs, graph)
    decisions = torch.stack(recorder.decisions, -1)[0].cpu() if recorder.decisions else None
    found = Explanation(
        torch.stack(recorder.probabilities, dim=2)[0].cpu(), recorder.steps[0].cpu(), decisions
    )
    if model.controllers is not None:
        z = _measures(model, inputs, recorder)
        names = tuple(titles(model.parts.measures))
        found = replace(found, measures=z[0].cpu(), measure_names=names)
        if model.parts.use_weighting:
            drivers = _drivers(model, recorder, z)
            found = replace(found, priorities=weights[0].cpu(), drivers=drivers)
    if not sees_own_features_only(model.backbone):
        return found
    x = inputs.features.forward.matrix
    index, score = important_features(model.backbone, x, found.predicted, TOP_FEATURES)
    return replace(found, feature_index=index, feature_score=score)


def _recorded(model: PProNetwork, inputs: Inputs, graph: Graph) -> tuple[Recorder, Tensor]:
    """A pass over all nodes: what it saw at every step, and w."""
    rows = all_rows(graph, 1, inputs.influence.device)
    recorders: list[Recorder] = []

    def watch(inner: Strategy) -> Recorder:
        h0 = inner.h_tilde

        def classify(h: Tensor) -> Tensor:
            return model.backbone.classify(h, h0, rows.nodes, None).softmax(-1)

        recorders.append(Recorder(inner, classify))
        return recorders[0]

    weights = model(inputs, rows, watch=watch).weights
    return recorders[0], weights


def _measures(model: PProNetwork, inputs: Inputs, recorder: Recorder) -> Tensor:
    """z of every node (Eq. 6). Shape ``[1, n, measures]``."""
    columns = [inputs.influence.unsqueeze(0)]
    for measure in model.changing:
        values = measure.of_step(recorder.h0, recorder.first_aggregate)
        columns.append(standardised(values).unsqueeze(-1))
    return torch.cat(columns, dim=-1)


def _drivers(model: PProNetwork, recorder: Recorder, z: Tensor) -> Tensor:
    """What each input adds to w. Shape ``[n, measures + 3]``."""
    assert model.controllers is not None
    h0, h_tilde = recorder.h0, recorder.h_tilde
    if model.parts.controller_inputs == "predictions":
        h0, h_tilde = recorder.probabilities[0], recorder.classify(h_tilde)
    depth = recorder.steps.to(h0.dtype) / model.max_steps if model.parts.use_step else None
    return weight_drivers(model.controllers, z, h0, h_tilde, depth)[0].cpu()


def one_run(model: Network, settings: Sequence[Settings], graph: Graph, index: int) -> Network:
    """A model that holds one run of a model of many."""
    device = next(model.parameters()).device
    single = build_model(graph.num_features, graph.num_classes, [settings[index]], device)
    all_runs = dict(model.named_parameters())
    for name, parameter in single.named_parameters():
        parameter.data = all_runs[name].detach()[index : index + 1].clone()
    return single
