"""A few faults; ``make faults`` has a hundred and fifty."""

from __future__ import annotations

from tests.hostile.faults import campaign, fill, kill


def test_a_training_that_is_killed_ends_in_the_same_bytes() -> None:
    assert campaign("train", 2, kill, 3) >= 2


def test_a_training_without_room_ends_in_the_same_bytes() -> None:
    assert campaign("train", 2, fill, 3) >= 2
