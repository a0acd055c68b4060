from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppro.parts import RIVALS
from ppro.settings.settings import Settings
from ppro.settings.space import Space

spaces = st.builds(
    Space,
    shapes=st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True).map(
        lambda depths: tuple({"max_steps": d} for d in depths)
    ),
    values=st.dictionaries(
        st.sampled_from(["lr", "dropout"]),
        st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True).map(tuple),
    ),
)


@given(spaces, st.integers(0, 40), st.integers(0, 5))
def test_draws_differ_and_come_from_the_space(space: Space, number: int, seed: int) -> None:
    drawn = space.draw(number, seed)
    assert len(drawn) == min(number, space.size())
    assert len({tuple(sorted(c.items())) for c in drawn}) == len(drawn)
    for configuration in drawn:
        assert any(shape.items() <= configuration.items() for shape in space.shapes)
        assert all(configuration[key] in choices for key, choices in space.values.items())
    assert drawn == space.draw(number, seed)


def test_each_shape_starts_with_the_published_values() -> None:
    space = Space(({"hidden": 1}, {"hidden": 2}), {"lr": (0.1, 0.2), "dropout": (0.5, 0.6)})
    assert space.draw(2, seed=4) == [{"hidden": h, "lr": 0.1, "dropout": 0.5} for h in (1, 2)]


@pytest.mark.parametrize("name", sorted(RIVALS))
def test_every_rival_has_spaces_of_valid_settings(name: str) -> None:
    for kind in ("homophilous", "heterophilous"):
        space = RIVALS.get(name).spaces[kind]
        assert space.size() >= 24
        per_run = Settings(model=name).per_run
        assert space.values.keys() <= per_run
        for shape in space.shapes:
            assert not shape.keys() & per_run
        for configuration in space.draw(24):
            Settings(model=name, **configuration)
