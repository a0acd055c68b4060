from __future__ import annotations

from collections.abc import Callable

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ppro.compute.ranks import ALONE
from ppro.nn.strategies import Strategy
from ppro.nn.strategies.full_depth import FullDepth
from ppro.nn.strategies.learn_to_break import LearnToBreak
from ppro.nn.strategies.learn_to_update import LearnToUpdate

RUNS, NODES = 2, 3
# Few values, so that a probability often equals ε: only a greater one counts.
probabilities = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
depths = st.integers(1, 5)


def embedding(k: int) -> Tensor:
    """Embeddings that say which run, row and step they belong to."""
    h = torch.empty(RUNS, NODES, 3, dtype=torch.float64)
    for r in range(RUNS):
        for i in range(NODES):
            h[r, i] = torch.tensor([r, i, k])
    return h


Probability = Callable[[Tensor, Tensor, Tensor | None], Tensor]


class Seen:
    """A pass that shows the embeddings above."""

    learning, total, ranks = True, None, ALONE

    def __init__(self, probability: Probability, epsilon: Tensor) -> None:
        self.h0, self.epsilon, self._probability = embedding(0), epsilon, probability
        self.valid = torch.ones(RUNS, NODES, dtype=torch.float64)

    def probability(self, h: Tensor, evidence: Tensor, best: Tensor | None = None) -> Tensor:
        return self._probability(h, evidence, best)

    def error(self, h: Tensor) -> Tensor:
        return h.sum(-1)


class SeenAhead(Seen):
    """The same of several steps."""

    def break_probabilities(self, h: Tensor) -> Tensor:
        return self.taught_probability(h)

    def update_probability(self, h: Tensor, best: Tensor) -> Tensor:
        return self._probability(h, 100 + h, best)

    def taught_probability(self, h: Tensor, best: Tensor | None = None) -> Tensor:
        bests = [None] * h.shape[1] if best is None else best.unbind(1)
        pairs = zip(h.unbind(1), bests, strict=True)
        return torch.stack([self._probability(one, 100 + one, b) for one, b in pairs], 1)

    def errors(self, h: Tensor) -> Tensor:
        return h.sum(-1)


def nothing(h: Tensor, evidence: Tensor, best: Tensor | None) -> Tensor:
    raise AssertionError("nothing is decided")


def watch(strategy: Strategy, depth: int) -> None:
    for k in range(1, depth + 1):
        strategy.observe(k, embedding(k), 100 + embedding(k), last=k == depth)
        if strategy.settled():
            return


def check(strategy: Strategy, expected: list[list[int]]) -> None:
    assert strategy.steps.tolist() == expected
    for r in range(RUNS):
        for i in range(NODES):
            step = expected[r][i]
            assert strategy.h_tilde[r, i].tolist() == [r, i, step]
            if step and isinstance(strategy, LearnToBreak):
                assert strategy.evidence[r, i].tolist() == [100 + r, 100 + i, 100 + step]


def table(data: st.DataObject, *shape: int) -> Tensor:
    count = int(torch.Size(shape).numel())
    values = data.draw(st.lists(probabilities, min_size=count, max_size=count))
    return torch.tensor(values, dtype=torch.float64).view(shape)


def epsilons(data: st.DataObject) -> Tensor:
    return table(data, RUNS).view(-1, 1)


@settings(deadline=None, max_examples=60)
@given(st.data(), depths)
def test_l2b_breaks_at_the_first_step_above_epsilon(data: st.DataObject, depth: int) -> None:
    p, epsilon = table(data, depth + 1, RUNS, NODES), epsilons(data)

    def probability(h: Tensor, aggregate: Tensor, best: Tensor | None) -> Tensor:
        assert torch.equal(aggregate, 100 + h)
        r, i, k = (h[..., c].long() for c in range(3))
        return p[k, r, i]

    strategy = LearnToBreak(Seen(probability, epsilon))
    watch(strategy, depth)
    expected = [
        [
            next((k for k in range(1, depth + 1) if p[k, r, i] > epsilon[r, 0]), depth)
            for i in range(NODES)
        ]
        for r in range(RUNS)
    ]
    check(strategy, expected)
    assert int(strategy.steps.min()) >= 1
    assert int(strategy.steps.max()) <= depth


@settings(deadline=None, max_examples=60)
@given(st.data(), depths, st.sampled_from([LearnToBreak, LearnToUpdate]))
def test_nodes_choose_alike_when_several_steps_are_seen_at_once(
    data: st.DataObject, depth: int, strategy: type[Strategy]
) -> None:
    p, epsilon = table(data, depth + 1, depth + 1, RUNS, NODES), epsilons(data)

    def probability(h: Tensor, aggregate: Tensor, best: Tensor | None) -> Tensor:
        r, i, k = (h[..., c].long() for c in range(3))
        return p[k, 0 if best is None else best[..., 2].long(), r, i]

    seen = SeenAhead(probability, epsilon)
    one_by_one, ahead = strategy(seen), strategy(seen)
    watch(one_by_one, depth)
    k, memory = 0, torch.empty(RUNS, depth, NODES, 3, dtype=torch.float64)
    while k < depth and not ahead.settled():
        count = data.draw(st.integers(1, depth - k))
        for j in range(count):
            memory[:, j] = embedding(k + j + 1)
        ahead.observe_steps(k + 1, memory[:, :count], seen, last=k + count == depth)
        k += count
    memory.fill_(torch.nan)
    assert torch.equal(ahead.steps, one_by_one.steps)
    assert torch.equal(ahead.h_tilde, one_by_one.h_tilde)
    error = torch.rand(RUNS, NODES, dtype=torch.float64)
    assert torch.equal(ahead.loss(error), one_by_one.loss(error))


def test_a_strategy_with_an_eye_of_its_own_sees_one_step_after_the_other() -> None:
    class Late(LearnToBreak):
        def observe(self, k: int, h: Tensor, evidence: Tensor, *, last: bool) -> None:
            super().observe(k, h, evidence, last=last)

    class Same(LearnToBreak):
        pass

    assert (LearnToBreak.ahead, Same.ahead, Late.ahead) == (True, True, False)


@settings(deadline=None, max_examples=60)
@given(st.data(), depths)
def test_l2u_ends_at_the_last_update_given_the_best_so_far(data: st.DataObject, depth: int) -> None:
    p, epsilon = table(data, depth + 1, depth + 1, RUNS, NODES), epsilons(data)

    def probability(h: Tensor, aggregate: Tensor, best: Tensor | None) -> Tensor:
        assert best is not None
        r, i, k = (h[..., c].long() for c in range(3))
        return p[k, best[..., 2].long(), r, i]

    strategy = LearnToUpdate(Seen(probability, epsilon))
    watch(strategy, depth)
    expected = [[0] * NODES for _ in range(RUNS)]
    for r in range(RUNS):
        for i in range(NODES):
            for k in range(1, depth + 1):
                if p[k, expected[r][i], r, i] > epsilon[r, 0]:
                    expected[r][i] = k
    check(strategy, expected)
    assert int(strategy.steps.min()) >= 0
    assert int(strategy.steps.max()) <= depth


@settings(deadline=None, max_examples=10)
@given(depths)
def test_full_depth_takes_the_last_step(depth: int) -> None:
    strategy = FullDepth(Seen(nothing, torch.zeros(RUNS, 1)))
    watch(strategy, depth)
    check(strategy, [[depth] * NODES] * RUNS)


def test_l2b_stops_asking_once_every_row_has_stopped() -> None:
    asked: list[int] = []

    def probability(h: Tensor, aggregate: Tensor, best: Tensor | None) -> Tensor:
        asked.append(int(h[0, 0, 2]))
        return torch.ones(RUNS, NODES, dtype=torch.float64)

    watch(LearnToBreak(Seen(probability, torch.full((RUNS, 1), 0.5))), 5)
    assert asked == [1]
