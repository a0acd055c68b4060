"""Claims, retries and proposals of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest

from ppro.errors import RunError, SettingsError
from ppro.search.tuning.spaces import SHAPE
from ppro.search.tuning.storage import open_place
from ppro.search.tuning.study import IDENTITY, MAX_RETRIES, SharedStudy
from tests.search.tuning.support import session, states, subject


def study(folder: Path) -> SharedStudy:
    """A study of few configurations."""
    few: dict[str, Any] = {
        "max_steps": 2,
        "form": "hidden",
        "lr": 0.01,
        "epsilon": 0.5,
        "lambda1": 1.0,
    }
    few |= {"lr_controller": 0.01, "propagation_bias": 0.0}
    about = subject(runs=2, **few)
    space = about.space("homophilous")
    where = open_place(str(folder / "one.journal"))
    return SharedStudy(where, "one", space, about.identity("homophilous", space))


def test_a_batch_begins_with_the_published_values_and_is_of_one_program(tmp_path: Path) -> None:
    worker = session(tmp_path, trials=40, batch=20)
    shapes = len(worker.space.shapes)
    batch = worker.study.claim(20, 40)
    assert [trial.params for trial in batch[:shapes]] == worker.space.begin_with()
    assert len({trial.params[SHAPE] for trial in batch[shapes:]}) == 1
    assert len({repr(trial.params) for trial in batch}) == 20


def test_a_space_is_tried_to_its_end_and_nothing_twice(tmp_path: Path) -> None:
    one = study(tmp_path)
    size = one.space.size
    assert size is not None
    seen: list[str] = []
    while batch := one.claim(5, 1000):
        for trial in batch:
            one.finish(trial, float(len(seen)), {})
            seen.append(repr(trial.params))
    assert len(seen) == len(set(seen)) == size


def test_claims_stop_at_the_limit_and_go_on_at_a_higher_one(tmp_path: Path) -> None:
    one = study(tmp_path)
    for trial in one.claim(10, 3):
        one.finish(trial, 1.0, {})
    assert one.claim(10, 3) == []
    assert len(one.claim(10, 5)) == 2


def test_the_same_seed_proposes_the_same(tmp_path: Path) -> None:
    drawn = []
    for name in "ab":
        worker = session(tmp_path, storage=str(tmp_path / f"{name}.journal"), batch=12)
        for number, trial in enumerate(worker.study.claim(12, 100)):
            worker.study.finish(trial, float(number), {})
        drawn.append([trial.params for trial in worker.study.claim(6, 100)])
    assert drawn[0] == drawn[1]


def test_a_trial_that_kills_its_workers_is_given_up(tmp_path: Path) -> None:
    one = study(tmp_path)
    first = one.claim(1, 100)[0].params
    for _ in range(MAX_RETRIES):
        assert one.give_back() == 1
        assert one.claim(1, 100)[0].params == first
    assert one.give_back() == 1
    assert one.claim(1, 100)[0].params != first


def test_a_result_that_comes_too_late_is_dropped(tmp_path: Path) -> None:
    one = study(tmp_path)
    (trial,) = one.claim(1, 100)
    one.give_back()
    one.report(trial, 1, 50.0)
    one.finish(trial, 50.0, {"accuracies": [50.0]})
    assert one.complete() == []
    assert one.counts().failed == 1


def test_a_death_between_asking_and_signing_is_noticed(tmp_path: Path) -> None:
    one = study(tmp_path)
    one.study.sampler = optuna.samplers.RandomSampler(0)
    waiting = one.study.ask()
    lost: list[int] = []
    assert one.claim(1, 100, lost.append)[0].params == one.space.begin_with()[0]
    assert lost == [1]
    assert waiting.number == 0


def test_who_ends_well_while_others_look_is_not_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, other = study(tmp_path), study(tmp_path)
    (trial,) = slow.claim(1, 100)

    def ends_now(worker: str) -> bool:
        slow.finish(trial, 50.0, {"accuracies": [50.0]})
        return False

    monkeypatch.setattr(other.guard, "is_alive", ends_now)
    lost: list[int] = []
    assert trial.params not in [t.params for t in other.claim(20, 100, lost.append)]
    assert lost == []
    assert other.counts().complete == 1


def test_a_study_of_something_else_is_not_mixed_with(tmp_path: Path) -> None:
    session(tmp_path)
    for about, told in (
        (subject(epochs=4), "another fixed setting;"),
        (subject(runs=3), "another number of seeds, split;"),
    ):
        with pytest.raises(RunError, match=told):
            session(tmp_path, about=about)


def test_a_study_of_version_0_1_is_gone_on_with(tmp_path: Path) -> None:
    before = session(tmp_path)
    saved = before.study.study.user_attrs[IDENTITY]
    other = {"heads": 8, "jumping": "cat", "gcnii_lambda": 0.5, "selection": "accuracy"}
    flat = {k: v for k, v in saved["fixed setting"].items() if v is not None}
    for key in ("metric", "measures"):
        del flat[key]
    old = {**saved, "fixed setting": {**flat, **other}}
    before.study.study.set_user_attr(IDENTITY, old)
    assert session(tmp_path).study.counts().tried == 0


def test_pruning_keeps_the_better_half_of_all(tmp_path: Path) -> None:
    worker = session(tmp_path, batch=10)
    batch = worker.study.claim(10, 100)
    for value, trial in enumerate(batch):
        worker.study.report(trial, 1, float(value))
    assert [trial.should_prune() for trial in batch] == [True] * 5 + [False] * 5
    unpruned = session(tmp_path, storage=str(tmp_path / "other.journal"), prune=False)
    batch = unpruned.study.claim(4, 100)
    for value, trial in enumerate(batch):
        unpruned.study.report(trial, 1, float(value))
    assert not any(trial.should_prune() for trial in batch)


def test_equal_results_are_not_pruned(tmp_path: Path) -> None:
    worker = session(tmp_path)
    batch = worker.study.claim(4, 100)
    for trial in batch:
        worker.study.report(trial, 1, 70.0)
    assert not any(trial.should_prune() for trial in batch)


def test_sqlite_works_and_warns(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/some.db"
    worker = session(tmp_path, storage=url)
    assert "for many workers" in worker.place.warning
    assert len(worker.study.claim(3, 10)) == 3
    again, lost = session(tmp_path, storage=url), list[int]()
    assert again.study.claim(3, 3, lost.append) == []
    assert lost == []
    worker.place.guard.close()
    assert len(again.study.claim(3, 3, lost.append)) == 3
    assert lost == [3]
    assert states(again)["FAIL"] == 3


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://me@host/db", "unknown; use a journal file"),
        ("sqlite://", "no file"),
        ("postgresql://me@127.0.0.1:1/none", "check the URL, and that the server runs"),
        ("postgresql://me@127.0.0.1:port/none", "check the URL"),
    ],
)
def test_a_storage_that_cannot_be(url: str, told: str) -> None:
    with pytest.raises((RunError, SettingsError), match=told):
        open_place(url)
