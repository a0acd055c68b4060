"""Networks on edges that are read one way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.compute.propagation import Adjacency
from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.parts import BACKBONES, RIVALS
from ppro.settings.settings import Settings, parse_settings
from ppro.training.assembly import all_rows, build_model, prepare_inputs
from tests.nn.backbones.test_contract import models, noise
from tests.support import CPU, World, small_settings

NODES, FEATURES = 5, 6
CHAIN = [(0, 1), (1, 2), (2, 3), (3, 4)]
ABLE = [("backbone", name) for name in sorted(BACKBONES)]
ABLE += [("model", name) for name, rival in sorted(RIVALS.items()) if rival.uses_direction]
UNABLE = sorted(name for name, rival in RIVALS.items() if not rival.uses_direction)


def settings_of(kind: str, name: str, direction: str, **more: Any) -> Settings:
    own = {"consistency": 1.0} if name == "grand" else {}
    shape = {"strategy": "none", "hidden": 6, "heads": 3, "max_steps": 2, "feature_norm": "none"}
    return small_settings(**{kind: name, **shape, **own, "direction": direction, **more})


def chain(x: Tensor, pairs: list[tuple[int, int]]) -> Graph:
    edges = torch.tensor(pairs).T
    return Graph.build("chain", edges, x, torch.arange(NODES) % 2, directed=True)


def logits(graph: Graph, settings: Settings) -> Tensor:
    """What a network with random weights says of every node."""
    model = build_model(FEATURES, 2, [settings], CPU)
    rng = torch.Generator().manual_seed(3)
    for p in model.parameters():
        p.data = torch.randn(p.shape, generator=rng)
    for p in model.statistics():
        p.data.abs_()
    inputs = prepare_inputs(graph, settings, CPU)
    with torch.no_grad():
        found: Tensor = model(inputs, all_rows(graph, 1, CPU)).logits[0]
    return found


@pytest.mark.parametrize(("kind", "name"), ABLE)
def test_what_a_node_says_reaches_those_that_read_from_it(kind: str, name: str) -> None:
    x = torch.rand(NODES, FEATURES, generator=torch.Generator().manual_seed(0))
    changed = x.clone()
    changed[2] += 1
    for direction, reached in (("in", (2, 3, 4)), ("out", (2, 1, 0))):
        settings = settings_of(kind, name, direction)
        before, after = logits(chain(x, CHAIN), settings), logits(chain(changed, CHAIN), settings)
        moved = set((before != after).any(1).nonzero().flatten().tolist())
        assert moved <= set(reached)
        assert moved >= ({2} if name == "mlp" else set(reached[:2]))
        mirrored = [(b, a) for a, b in CHAIN]
        other = settings_of(kind, name, "out" if direction == "in" else "in")
        torch.testing.assert_close(before, logits(chain(x, mirrored), other))


@pytest.mark.parametrize("name", sorted(BACKBONES))
@pytest.mark.parametrize("normalisation", ["symmetric", "row"])
def test_gradients_are_those_of_the_function(name: str, normalisation: Any) -> None:
    world, (model, _) = World.random(3, nodes=5), models(name, strategy="none", max_steps=2)
    edges = world.edges[:, (world.edges[0] + 2 * world.edges[1]) % 5 > 1]
    form: dict[str, Any] = {"normalisation": normalisation, "dtype": torch.float64}
    one_way = Adjacency.build(edges, 5, directed=True, **form)
    assert not torch.equal(one_way.matrix.to_dense() > 0, one_way.adjoint.to_dense() > 0)
    inputs = replace(world.inputs, adjacency=one_way)

    def answers(*_: Tensor) -> Tensor:
        out: Tensor = model(inputs, world.all_rows(2), noise(edges=True)).logits
        return out

    parameters = list(model.backbone.parameters())
    assert torch.autograd.gradcheck(answers, parameters, nondet_tol=0.0, fast_mode=True)


@pytest.mark.parametrize("name", UNABLE)
def test_networks_that_pair_nodes_by_themselves_refuse(name: str) -> None:
    with pytest.raises(SettingsError, match=f"direction: {name} pairs nodes.*leave it out"):
        parse_settings({"model": name, "direction": "in"}, "settings")
    parse_settings({"model": name, "direction": "both"}, "settings")
