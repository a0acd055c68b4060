"""Small random graphs, and Algorithm 1 for one run, node by node, in plain PyTorch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ppro.compute.features import FEATURE_SITE, Features
from ppro.compute.noise import Noise, element_ids, matrix_ids
from ppro.compute.propagation import EDGE_SITE, Adjacency
from ppro.nn.backbones.appnp import APPNP, HIDDEN_SITE
from ppro.nn.batched import PProNetwork
from ppro.nn.network import Inputs, Rows
from ppro.nn.priority import Edges, influence
from ppro.settings.settings import Settings
from ppro.training.assembly import OwnBackbone, build_model

CPU = torch.device("cpu")


def both_directions(pairs: Iterable[tuple[int, int]]) -> Tensor:
    """Edges as the package stores them: both directions, no loop, no duplicate, sorted by row."""
    both = sorted({p for a, b in pairs if a != b for p in ((a, b), (b, a))})
    return torch.tensor(both, dtype=torch.int64).reshape(-1, 2).T.contiguous()


def connected_edges(nodes: int, seed: int, extra: int = 8) -> Tensor:
    """A random tree and some more edges."""
    rng = np.random.default_rng(seed)
    tree = [(i, int(rng.integers(i))) for i in range(1, nodes)]
    more = [(int(a), int(b)) for a, b in rng.integers(nodes, size=(extra, 2))]
    return both_directions(tree + more)


def dense_normalised(
    edges: Tensor,
    nodes: int,
    *,
    weight: Tensor | None = None,
    normalisation: str = "symmetric",
    self_loops: bool = True,
) -> Tensor:
    """Â entry by entry. Shape ``[n, n]``, float64."""
    a = np.eye(nodes) if self_loops else np.zeros((nodes, nodes))
    for e, (i, j) in enumerate(edges.T.tolist()):
        a[i, j] += 1.0 if weight is None else float(weight[e])
    degree = [sum(a[i, j] for j in range(nodes)) for i in range(nodes)]
    readers = [sum(a[i, j] for i in range(nodes)) for j in range(nodes)]
    out = np.zeros_like(a)
    for i in range(nodes):
        for j in range(nodes):
            if a[i, j]:
                symmetric = normalisation == "symmetric"
                out[i, j] = a[i, j] / ((degree[i] * readers[j]) ** 0.5 if symmetric else degree[i])
    return torch.from_numpy(out)


def tensor64(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class World:
    """A graph in float64, dense for the reference and prepared for the package."""

    edges: Tensor
    x: Tensor
    labels: Tensor
    a_hat: Tensor
    inputs: Inputs

    @property
    def nodes(self) -> int:
        return int(self.x.shape[0])

    @classmethod
    def build(cls, edges: Tensor, x: Tensor, labels: Tensor, *, self_loops: bool = True) -> World:
        n = int(x.shape[0])
        adjacency = Adjacency.build(edges, n, self_loops=self_loops, dtype=torch.float64)
        z = influence(Edges(edges, n), ("degree", "eigenvector"))
        inputs = Inputs(Features(x), adjacency, z)
        return cls(edges, x, labels, dense_normalised(edges, n, self_loops=self_loops), inputs)

    @classmethod
    def random(
        cls,
        seed: int,
        nodes: int = 11,
        features: int = 6,
        classes: int = 3,
        *,
        self_loops: bool = True,
    ) -> World:
        labels = torch.from_numpy(np.random.default_rng(seed).integers(classes, size=nodes))
        x = tensor64(nodes, features, seed=seed)
        return cls.build(connected_edges(nodes, seed), x, labels, self_loops=self_loops)

    def rows(self, lists: Sequence[Sequence[int]]) -> Rows:
        """The given nodes of each run, padded."""
        length = max(len(nodes) for nodes in lists)
        nodes = torch.tensor([[*run, *[0] * (length - len(run))] for run in lists])
        valid = torch.tensor([[1.0] * len(run) + [0.0] * (length - len(run)) for run in lists])
        labels = torch.where(valid > 0, self.labels[nodes], 0)
        return Rows(nodes, labels, valid)

    def all_rows(self, runs: int = 1) -> Rows:
        return self.rows([range(self.nodes)] * runs)


def build_ppro(
    features: int, classes: int, settings: Sequence[Settings], backbone: OwnBackbone | None = None
) -> PProNetwork:
    """A PPro network on the CPU."""
    model = build_model(features, classes, settings, CPU, backbone)
    assert isinstance(model, PProNetwork)
    return model


def model64(settings: Sequence[Settings], features: int = 6, classes: int = 3) -> PProNetwork:
    """A float64 model whose biases are random too."""
    model = build_ppro(features, classes, settings).double()
    for index, p in enumerate(model.parameters()):
        p.data.copy_(tensor64(*p.shape, seed=index + 1000 * settings[0].seed))
    for p in model.statistics():
        p.data.abs_()  # Some are variances.
    if model.controllers is not None and model.controllers.mean_weight is not None:
        model.controllers.mean_weight.data.abs_()
    return model


def small_settings(**changes: object) -> Settings:
    """Settings for graphs of a dozen nodes."""
    base: dict[str, object] = {
        "hidden": 5,
        "controller_units": 7,
        "max_steps": 4,
        "alpha": 0.25,
        "dropout": 0.5,
        "epsilon": 0.5,
        "propagation_bias": 0.0,
        "lambda1": 0.5,
        "lambda2": 2.0,
    }
    return Settings.read({**base, **changes})


def noise_of(seeds: Sequence[int], rate: float | Sequence[float], moment: int) -> Noise:
    """The dropout of one pass from the user's seeds."""
    rates = [rate] * len(seeds) if isinstance(rate, float) else list(rate)
    return Noise(
        Noise.hashed_seeds(torch.tensor(seeds)),
        torch.tensor(rates),
        torch.tensor(moment, dtype=torch.int32),
    )


def edge_mask(noise: Noise, nodes: int) -> Tensor:
    """What to multiply Â of each run with; both directions of an edge share it. ``[R, n, n]``."""
    i = torch.arange(nodes)
    low, high = torch.minimum(i[:, None], i), torch.maximum(i[:, None], i)
    return noise.scale(element_ids(low, high).unsqueeze(0), EDGE_SITE, noise.edge_rates).double()


class Reference:
    """One run of a model, as the paper writes it: loops over steps and nodes, plain autograd."""

    def __init__(self, model: PProNetwork, run: int, world: World) -> None:
        assert isinstance(model.backbone, APPNP)
        self.p = {
            name: value[run].detach().double().clone().requires_grad_()
            for name, value in model.named_parameters()
        }
        self.model, self.backbone, self.run, self.world = model, model.backbone, run, world
        self.epsilon = float(model.epsilon[run])
        self.noise: Noise | None = None

    def group(self, prefix: str) -> list[Tensor]:
        """Leaf tensors of the backbone or of the controllers."""
        return [value for name, value in self.p.items() if name.startswith(prefix)]

    def mask(self, width: int, site: int) -> Tensor:
        ids = matrix_ids(torch.arange(self.world.nodes), width).unsqueeze(0)
        if self.noise is None:
            return torch.ones(self.world.nodes, width)
        return self.noise.scale(ids, site)[self.run]

    def propagate(self) -> None:
        """Lines 3-5: every h^(k), ĥ^(k), and z (Eq. 1-6)."""
        p, x, alpha = self.p, self.world.x, self.backbone.alpha
        h = (x * self.mask(x.shape[1], FEATURE_SITE)) @ p["backbone.weight1"]
        if self.backbone.form != "features":
            h = torch.relu(h + p["backbone.bias1"])
        if self.backbone.form == "class":
            h = h * self.mask(h.shape[1], HIDDEN_SITE)
            h = h @ p["backbone.output.weight"] + p["backbone.output.bias"]
        a_hat = self.world.a_hat
        if self.noise is not None and self.noise.edge_rates is not None:
            a_hat = a_hat * edge_mask(self.noise, self.world.nodes)[self.run]
        self.h, self.aggregate = [h], [torch.zeros_like(h)]
        for _ in range(self.model.max_steps):
            self.aggregate.append(a_hat @ self.h[-1])
            self.h.append((1 - alpha) * self.aggregate[-1] + alpha * h)
        apart = (self.h[0] - self.aggregate[1]).detach()
        he = [apart[i].norm() for i in range(self.world.nodes)]
        mean = sum(he) / len(he)
        deviation = (sum((v - mean) ** 2 for v in he) / len(he)) ** 0.5
        self.z = [
            torch.cat([self.world.inputs.influence[i], ((he[i] - mean) / deviation).view(1)])
            for i in range(self.world.nodes)
        ]

    def classify(self, i: int, h: Tensor, *, dropped: bool = True) -> Tensor:
        if self.backbone.form == "class":
            return h
        parts = [h, self.h[0][i]] if self.backbone.concat else [h]
        if self.backbone.form == "features":
            parts = [torch.relu(part + self.p["backbone.bias1"]) for part in parts]
        seen = torch.cat(parts)
        if dropped:
            seen = seen * self.mask(seen.shape[0], HIDDEN_SITE)[i]
        return seen @ self.p["backbone.output.weight"] + self.p["backbone.output.bias"]

    def seen(self, i: int, h: Tensor) -> Tensor:
        if self.model.parts.controller_inputs != "predictions":
            return h.detach()
        return self.classify(i, h, dropped=False).softmax(-1).detach()

    def first_layer(self, i: int, with_z: bool) -> Tensor:
        c = self.controller
        u = c("bias") + self.seen(i, self.h[0][i]) @ c("initial")
        return u + self.z[i] @ c("priority") if with_z else u

    def controller(self, name: str) -> Tensor:
        return self.p[f"controllers.{name}"]

    def probability(self, i: int, k: int, best: int | None) -> Tensor:
        """Eq. 7, or Eq. 8 with the step of the best embedding so far."""
        c = self.controller
        u = self.first_layer(i, self.model.parts.use_priority)
        u = u + self.seen(i, self.h[k][i]) @ c("current")
        u = u + self.seen(i, self.aggregate[k][i]) @ c("aggregate")
        if best is not None:
            u = u + self.seen(i, self.h[best][i]) @ c("best")
        return torch.sigmoid(torch.relu(u) @ c("propagation_head")[:, 0] + c("propagation_bias"))

    def step(self, i: int) -> int:
        """l_i."""
        last = self.model.max_steps
        if self.model.controllers is None or not self.model.parts.use_propagation:
            return last
        best = 0
        for k in range(1, last + 1):
            l2u = self.model.strategy.name == "l2u"
            if float(self.probability(i, k, best if l2u else None).detach()) > self.epsilon:
                if not l2u:
                    return k
                best = k
        return best if self.model.strategy.name == "l2u" else last

    def weight(self, i: int, step: int) -> Tensor:
        """Eq. 11."""
        if self.model.controllers is None or not self.model.parts.use_weighting:
            return torch.ones((), dtype=torch.float64)
        c = self.controller
        u = self.first_layer(i, True) + self.seen(i, self.h[step][i]) @ c("current")
        if self.model.parts.use_step:
            u = u + step / self.model.max_steps * c("step")[0]
        score = (torch.relu(u) @ c("weight_head")[:, 0] + c("weight_bias")).squeeze()
        tanh = self.model.controllers.weight_form == "tanh"
        w = 1 + torch.tanh(score) if tanh else F.softplus(score + np.log(np.e - 1))
        return w / c("mean_weight")[0].detach() if self.scaled else w

    @property
    def scaled(self) -> bool:
        """Whether priorities have mean 1."""
        return "controllers.mean_weight" in self.p

    def error(self, i: int, h: Tensor) -> Tensor:
        """C(y_i, ŷ_i)."""
        return -self.classify(i, h).log_softmax(-1)[self.world.labels[i]]

    def backbone_loss(self, nodes: Sequence[int], lambda1: float) -> Tensor:
        """Eq. 13 with the weights fixed."""
        self.propagate()
        total = torch.zeros((), dtype=torch.float64)
        steps = {i: self.step(i) for i in nodes}
        weights = {i: self.weight(i, steps[i]).detach() for i in nodes}
        if self.scaled:
            mean = sum(weights.values()) / len(nodes)
            weights = {i: w / mean for i, w in weights.items()}
            self.p["controllers.mean_weight"].data.mul_(mean)
        for i, w in weights.items():
            total = total + w * self.error(i, self.h[steps[i]][i]) - lambda1 * w**2
        errors = [float(self.error(i, self.h[steps[i]][i]).detach()) for i in nodes]
        self.mean_error = sum(errors) / len(nodes)
        return total / len(nodes)

    def controller_loss(self, nodes: Sequence[int], lambda1: float, lambda2: float) -> Tensor:
        """Eq. 9 or 10, 13 and 14, with the backbone fixed."""
        self.propagate()
        steps = {i: self.step(i) for i in nodes}
        error = {i: self.error(i, self.h[steps[i]][i]).detach() for i in nodes}
        weighting = torch.zeros((), dtype=torch.float64)
        for i in nodes:
            w = self.weight(i, steps[i])
            if self.scaled:
                w = w * self.controller("mean_weight")[0].detach()
                mean = sum(error.values()) / len(nodes)
                spread = (sum((c - mean) ** 2 for c in error.values()) / len(nodes)) ** 0.5
                gain = w * (error[i] - mean) / spread - lambda1 * (w - 1) ** 2
            else:
                gain = w * error[i] - lambda1 * w**2
            weighting = weighting + gain / len(nodes)
        loss = self._propagation_loss(nodes, steps, error)
        return loss - lambda2 * weighting if self.model.parts.use_weighting else loss

    def _propagation_loss(
        self, nodes: Sequence[int], steps: dict[int, int], error: dict[int, Tensor]
    ) -> Tensor:
        total = torch.zeros((), dtype=torch.float64)
        if self.model.controllers is None or not self.model.parts.use_propagation:
            return total
        if self.model.strategy.name == "l2b":
            low, high = min(error.values()), max(error.values())
            for i in nodes:
                going_on = 1 - self.probability(i, steps[i], None).squeeze()
                total = total + ((error[i] - low) / (high - low) - going_on).abs()
            return total / len(nodes)
        for i in nodes:
            best = 0
            for k in range(1, self.model.max_steps + 1):
                p = self.probability(i, k, best).squeeze()
                gain = (self.error(i, self.h[k][i]) - self.error(i, self.h[best][i])).detach()
                total = total + p * gain / self.model.max_steps
                best = k if float(p.detach()) > self.epsilon else best
        return total / len(nodes)
