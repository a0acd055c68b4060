"""Several workers on one study, one of them killed: nothing is lost, nothing stays running."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.search.tuning.server import NoServerError, PostgresServer
from tests.search.tuning.support import (
    BATCH,
    TRIALS,
    Worker,
    finish,
    session,
    states,
    tried,
    wait_until_its_death_is_known,
)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    try:
        found = PostgresServer()
    except NoServerError as error:
        pytest.skip(str(error))
    yield found
    found.stop()


@pytest.fixture(params=["journal", "postgresql"])
def storage(request: pytest.FixtureRequest) -> str | None:
    """The URL of an empty database, or None for a journal file."""
    if request.param == "journal":
        return None
    return str(request.getfixturevalue("server").new_database())


def test_the_survivors_do_what_a_killed_worker_left(tmp_path: Path, storage: str | None) -> None:
    victim = Worker(tmp_path, storage, hangs=True)
    victim.wait_until_it_trains()
    others = [Worker(tmp_path, storage) for _ in range(2)]
    for other in others:
        other.wait_until_it_trains()
    victim.kill()
    for other in others:
        other.end()
    after = session(tmp_path, storage=storage)
    assert states(after).keys() == {"COMPLETE", "PRUNED", "FAIL"}
    assert states(after)["FAIL"] == BATCH
    assert len(set(tried(after))) == len(tried(after)) == TRIALS
    after.place.guard.close()


def test_the_next_start_does_what_was_left_at_the_end(tmp_path: Path, storage: str | None) -> None:
    victim = Worker(tmp_path, storage, hangs=True)
    victim.wait_until_it_trains()
    for other in [Worker(tmp_path, storage) for _ in range(2)]:
        other.end()
    # The trials of a worker that is only slow are left alone.
    after = session(tmp_path, storage=storage)
    lost: list[int] = []
    assert after.study.claim(BATCH, TRIALS, lost.append) == []
    assert lost == []
    assert states(after)["RUNNING"] == BATCH
    assert len(tried(after)) == TRIALS - BATCH
    victim.kill()
    wait_until_its_death_is_known(after)
    told = finish(after)
    assert told[0] == f"{BATCH} trials of workers that have died: queued again"
    assert states(after).keys() == {"COMPLETE", "PRUNED", "FAIL"}
    assert len(set(tried(after))) == len(tried(after)) == TRIALS
    after.place.guard.close()
