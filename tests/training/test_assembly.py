from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ppro.errors import SettingsError
from ppro.graph.core import Graph
from ppro.settings.settings import Settings
from ppro.training.assembly import (
    all_rows,
    build_model,
    check_same_program,
    prepare_inputs,
    rows_from_masks,
)
from tests.support import CPU, connected_edges, dense_normalised

NODES = 6
masks_of_runs = st.lists(
    st.lists(st.booleans(), min_size=NODES, max_size=NODES).filter(any), min_size=1, max_size=4
)


def graph() -> Graph:
    x = torch.arange(1.0, 2 * NODES + 1).view(NODES, 2)
    return Graph.build("toy", connected_edges(NODES, 0), x, torch.arange(NODES) % 3)


@settings(deadline=None, max_examples=40)
@given(masks_of_runs)
def test_rows_are_the_nodes_of_each_mask_and_padding_is_marked(masks: list[list[bool]]) -> None:
    labels = torch.tensor([2, 0, 1, -1, 2, 1])
    rows = rows_from_masks(torch.tensor(masks), labels, CPU)
    longest = max(sum(mask) for mask in masks)
    assert rows.nodes.shape == rows.labels.shape == rows.valid.shape == (len(masks), longest)
    for run, mask in enumerate(masks):
        nodes = [i for i in range(NODES) if mask[i]]
        m = len(nodes)
        assert rows.nodes[run, :m].tolist() == nodes
        assert rows.labels[run].tolist() == labels[nodes].tolist() + [0] * (longest - m)
        assert rows.valid[run].tolist() == [1.0] * m + [0.0] * (longest - m)
    embeddings = torch.arange(len(masks) * NODES).view(len(masks), NODES)
    picked = embeddings.view(-1)[rows.flat(NODES)]
    for run in range(len(masks)):
        assert torch.equal(picked[run], embeddings[run, rows.nodes[run]])


def test_selecting_runs_selects_their_rows() -> None:
    masks = torch.tensor([[True, False, True], [False, True, False], [True, True, True]])
    rows = rows_from_masks(masks, torch.tensor([0, 1, 2]), CPU)
    some = rows.select(torch.tensor([0, 2]))
    assert torch.equal(some.nodes, rows.nodes[[0, 2]])
    assert torch.equal(some.labels, rows.labels[[0, 2]])
    assert torch.equal(some.valid, rows.valid[[0, 2]])


def test_all_rows_gives_no_label_away() -> None:
    rows = all_rows(graph(), 2, CPU)
    assert rows.nodes.tolist() == [list(range(NODES))] * 2
    assert not bool(rows.labels.any())


def test_runs_of_one_batch_may_differ_in_their_numbers() -> None:
    check_same_program([Settings(seed=0, lr=0.1), Settings(seed=1, dropout=0.1, epsilon=0.9)])


def test_runs_of_one_batch_must_share_the_program() -> None:
    both = [Settings(), Settings(max_steps=3, form="class")]
    with pytest.raises(SettingsError, match="must share max_steps, form; train them separately"):
        check_same_program(both)
    with pytest.raises(SettingsError, match="must share max_steps, form"):
        build_model(2, 3, both, CPU)


def test_a_run_starts_alike_alone_and_in_a_batch() -> None:
    runs = [Settings(seed=seed, hidden=4, propagation_bias=seed) for seed in (3, 1)]
    batch = build_model(5, 3, runs, CPU)
    for at, settings_of_run in enumerate(runs):
        alone = build_model(5, 3, [settings_of_run], CPU)
        for p, q in zip(alone.parameters(), batch.parameters(), strict=True):
            assert torch.equal(p[0], q[at])


def test_without_a_strategy_there_are_no_controllers() -> None:
    assert build_model(2, 3, [Settings(strategy="none")], CPU).controllers is None


@pytest.mark.parametrize("feature_norm", ["row", "none"])
@pytest.mark.parametrize("self_loops", [True, False])
def test_inputs_are_normalised_as_the_settings_say(feature_norm: str, self_loops: bool) -> None:
    chosen = Settings.model_validate({"feature_norm": feature_norm, "self_loops": self_loops})
    toy = graph()
    inputs = prepare_inputs(toy, chosen, CPU)
    x = inputs.features.linear(torch.eye(2).unsqueeze(0), None)[0]
    expected = toy.features / toy.features.sum(1, keepdim=True)
    torch.testing.assert_close(x, expected if feature_norm == "row" else toy.features)
    dense = dense_normalised(toy.edge_index, NODES, self_loops=self_loops).float()
    torch.testing.assert_close(inputs.adjacency.matrix.to_dense(), dense)
    assert inputs.influence.shape == (NODES, 2)
