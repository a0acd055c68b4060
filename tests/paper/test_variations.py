"""Settings near given ones: one value apart, and only where the value counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ppro.paper.variations import variations
from ppro.settings.settings import Settings, parse_settings

MANY = 100


def differences(own: Settings, other: Settings) -> set[str]:
    return {key for key, value in own.flat().items() if value != other.flat()[key]}


@given(
    strategy=st.sampled_from(["none", "l2b", "l2u"]),
    dropout=st.sampled_from([0.0, 0.05, 0.5, 0.9]),
    epsilon=st.floats(0.0, 1.0),
    max_steps=st.integers(1, 16),
    consistency=st.sampled_from([0.0, 1.0]),
    seed=st.integers(0, 5),
)
def test_each_differs_in_one_value(
    strategy: str, dropout: float, epsilon: float, max_steps: int, consistency: float, seed: int
) -> None:
    chosen = {"strategy": strategy, "max_steps": max_steps, "consistency": consistency}
    own = parse_settings({**chosen, "dropout": dropout, "epsilon": epsilon}, "here")
    found = variations(own, MANY, seed)
    changed = [differences(own, other) for other in found]
    assert all(len(keys) == 1 for keys in changed)
    assert len({repr(other) for other in found}) == len(found)
    keys = set().union(*changed)
    assert ("consistency_temperature" in keys) == (consistency > 0)
    assert ("lambda1" in keys) == (strategy != "none")
    assert {"lr", "weight_decay", "hidden", "max_steps"} <= keys


def test_a_few_are_the_first_of_many() -> None:
    own = Settings()
    assert variations(own, 5) == variations(own, MANY)[:5]
    assert variations(own, 5) != variations(own, 5, seed=1)
