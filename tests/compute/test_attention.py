from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ppro.compute.attention import Attention, Pattern, head_width
from ppro.compute.layers import generators
from ppro.errors import SettingsError
from tests.support import World, tensor64


def layer64(heads: int = 2, width: int = 3) -> Attention:
    layer = Attention(generators([0, 1]), 6, heads, width).double()
    for index, p in enumerate(layer.parameters()):
        p.data.copy_(tensor64(*p.shape, seed=index))
    return layer


def test_coefficients_of_a_node_sum_to_one() -> None:
    world, layer = World.random(0), layer64()
    pattern = Pattern.of(world.inputs.adjacency.matrix)
    same = torch.ones(2, world.nodes, 6, dtype=torch.float64)
    torch.testing.assert_close(layer(same, pattern, None), same + layer.bias.unsqueeze(1))


def test_a_dropped_coefficient_brings_nothing() -> None:
    world, layer = World.random(0), layer64()
    pattern = Pattern.of(world.inputs.adjacency.matrix)
    scale = torch.zeros(2, 2, pattern.rows.shape[0], dtype=torch.float64)
    out = layer(tensor64(2, world.nodes, 6), pattern, scale)
    torch.testing.assert_close(out, layer.bias.unsqueeze(1).expand_as(out))


def test_gradients_are_those_of_the_function() -> None:
    world, layer = World.random(1, nodes=6), layer64()
    pattern = Pattern.of(world.inputs.adjacency.matrix)

    def attend(z: Tensor, *_: Tensor) -> Tensor:
        out: Tensor = layer(z, pattern, None)
        return out

    z = tensor64(2, world.nodes, 6).requires_grad_()
    parameters = layer.target, layer.source, layer.bias
    assert torch.autograd.gradcheck(attend, (z, *parameters), nondet_tol=0.0, fast_mode=True)


def test_sums_of_a_pattern_are_those_of_the_matrix() -> None:
    matrix = World.random(2).inputs.adjacency.matrix
    pattern, values = Pattern.of(matrix), tensor64(1, matrix.values().shape[0])
    dense = torch.zeros(*matrix.shape, dtype=torch.float64)
    dense[pattern.rows, pattern.columns] = values[0]
    torch.testing.assert_close(pattern.row_sums(values)[0], dense.sum(1))
    torch.testing.assert_close(pattern.column_sums(values)[0], dense.sum(0))


def test_heads_share_the_hidden_layer_evenly() -> None:
    assert head_width(64, 8) == 8
    with pytest.raises(SettingsError, match="hidden = 10 cannot be split over 4 heads"):
        head_width(10, 4)
