"""Why a node got its class, its step and its priority: what a trained run says step by step."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.graph.core import Graph
from ppro.insight.attribution import important_features, sees_own_features_only, weight_drivers
from ppro.insight.comparing import explain_comparing
from ppro.insight.explanation import Explanation
from ppro.nn.backbones import Backbone
from ppro.nn.batched import PProNetwork
from ppro.nn.comparing.network import ComparingNetwork
from ppro.nn.network import Inputs, Network
from ppro.nn.priority import standardised, titles
from ppro.nn.strategies import Strategy
from ppro.parts import STRATEGIES
from ppro.runs.config import RunConfig
from ppro.runs.opening import open_run
from ppro.runs.saved_run import SavedRun
from ppro.runs.source import graph_of_run
from ppro.training.assembly import all_rows, prepare_inputs
from ppro.training.threads import use_threads, worth_cores

TOP_FEATURES = 8
"""How many features are kept of each node."""


@dataclass(frozen=True, eq=False)
class ExplainedRun:
    """One run of a run folder, explained on a graph.

    Args:
        index: the run that is explained.
    """

    saved: SavedRun
    graph: Graph
    splits: Splits
    index: int
    explanation: Explanation

    @property
    def config(self) -> RunConfig:
        """Return what was trained."""
        return self.saved.config

    @property
    def strategy(self) -> type[Strategy]:
        """Return the strategy of the run, which knows the words for what it does."""
        found: type[Strategy] = STRATEGIES.get(self.config.settings.strategy)
        return found

    @property
    def decision(self) -> str | None:
        """Return what a node may do at a step, such as "break"; None where nothing is decided."""
        if self.explanation.decisions is None:
            return None
        return self.strategy.verb or self.strategy.name

    @property
    def feature_names(self) -> list[str] | None:
        """Return what the features are called; None where they have no names."""
        return self.saved.trained.feature_names


def explain_run(
    folder: Path,
    run: int | None = None,
    *,
    threads: int | None = None,
    **graph: Any,
) -> ExplainedRun:
    """Apply a saved run to its graph and explain every node.

    Args:
        run: None for the run with the best validation score.
        threads: CPU cores to use; chosen from the work when None.
        graph: as for :func:`ppro.runs.source.graph_of_run`.

    Raises:
        RunError: there is no such run, or the folder is damaged.
    """
    saved, cpu = open_run(folder), torch.device("cpu")
    index = saved.chosen(run)
    loaded, splits = graph_of_run(saved, **graph)
    saved.check_graph(loaded)
    settings = saved.settings[index]
    # As in training: another number of threads may add in another order.
    use_threads(threads or worth_cores(loaded, settings, saved.config.runs))
    model, inputs = saved.model(cpu, run=index), prepare_inputs(loaded, settings, cpu)
    return ExplainedRun(saved, loaded, splits, index, explain_nodes(model, inputs, loaded))


class Recorder(Strategy):
    """Watches another strategy at every step, and keeps what it and the classifier would say.

    Args:
        inner: the strategy that decides.
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
        """Take note of step k, then let the other strategy decide."""
        if k == 1:
            self.first_aggregate = evidence[..., : h.shape[-1]]
        self.probabilities.append(self.classify(h))
        if (chance := self.inner.chance(h, evidence)) is not None:
            self.decisions.append(chance)
        self.inner.observe(k, h, evidence, last=last)
        self.h_tilde, self.steps = self.inner.h_tilde, self.inner.steps


def explain_nodes(model: Network, inputs: Inputs, graph: Graph) -> Explanation:
    """Return what a model of one run says of every node, without dropout."""
    if isinstance(model, PProNetwork):
        return _with_features(_explain_ppro(model, inputs, graph), model.backbone, inputs)
    if isinstance(model, ComparingNetwork):
        return _with_features(explain_comparing(model, inputs), model.backbone, inputs)
    with torch.no_grad():
        logits = model(inputs, all_rows(graph, 1, inputs.influence.device)).logits
    answer = logits.softmax(-1)[0].unsqueeze(1).cpu()
    return Explanation(answer, torch.zeros(graph.num_nodes, dtype=torch.int64))


@torch.no_grad()
def _explain_ppro(model: PProNetwork, inputs: Inputs, graph: Graph) -> Explanation:
    recorder, weights = _recorded(model, inputs, graph)
    decisions = torch.stack(recorder.decisions, -1)[0].cpu() if recorder.decisions else None
    found = Explanation(
        torch.stack(recorder.probabilities, dim=2)[0].cpu(),
        recorder.steps[0].cpu(),
        decisions,
        threshold=float(model.epsilon[0]),
    )
    if model.controllers is not None:
        z = _measures(model, inputs, recorder)
        names = tuple(titles(model.parts.measures))
        found = replace(found, measures=z[0].cpu(), measure_names=names)
        if model.parts.use_weighting:
            drivers = _drivers(model, recorder, z)
            found = replace(found, priorities=weights[0].cpu(), drivers=drivers)
    return found


def _with_features(found: Explanation, backbone: Backbone, inputs: Inputs) -> Explanation:
    """Add the features that matter, where the first layer sees a node's own alone."""
    if not sees_own_features_only(backbone):
        return found
    x = inputs.features.forward.matrix
    index, score = important_features(backbone, x, found.predicted, TOP_FEATURES)
    return replace(found, feature_index=index, feature_score=score)


def _recorded(model: PProNetwork, inputs: Inputs, graph: Graph) -> tuple[Recorder, Tensor]:
    """Return what a pass over all nodes saw at every step, and w."""
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
    """Return z of every node (Eq. 6). Shape ``[1, n, measures]``."""
    columns = [inputs.influence.unsqueeze(0)]
    first = recorder.h0, recorder.first_aggregate
    around = model.backbone.comparable(*first, inputs.adjacency, None)
    for measure in model.changing:
        values = measure.of_step(recorder.h0, around)
        columns.append(standardised(values).unsqueeze(-1))
    return torch.cat(columns, dim=-1)


def _drivers(model: PProNetwork, recorder: Recorder, z: Tensor) -> Tensor:
    """Return what each input adds to w. Shape ``[n, measures + 3]``."""
    assert model.controllers is not None
    h0, h_tilde = recorder.h0, recorder.h_tilde
    if model.parts.controller_inputs == "predictions":
        h0, h_tilde = recorder.probabilities[0], recorder.classify(h_tilde)
    depth = recorder.steps.to(h0.dtype) / model.max_steps if model.parts.use_step else None
    return weight_drivers(model.controllers, z, h0, h_tilde, depth)[0].cpu()
