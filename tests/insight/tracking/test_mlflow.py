"""Against a stand-in for MLflow's client, and against MLflow itself where it is installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from ppro.errors import RunError
from ppro.insight.tracking import MLflow
from ppro.insight.tracking.mlflow import BATCH, masked
from tests.insight.tracking.support import facts, history


class Metric(NamedTuple):
    key: str
    value: float
    timestamp: int
    step: int


class Client:
    def __init__(self, tracking_uri: str) -> None:
        if "nobody" in tracking_uri:
            raise ConnectionError("nobody answers\na long story")
        self.metrics: list[Metric] = []
        self.params: dict[str, Any] = {}
        self.status, self.folder = "RUNNING", ""

    def get_experiment_by_name(self, name: str) -> None:
        return None

    def create_experiment(self, name: str) -> str:
        return "1"

    def create_run(self, experiment: str, run_name: str) -> Any:
        return SimpleNamespace(info=SimpleNamespace(run_id="r"))

    def log_param(self, run: str, key: str, value: Any) -> None:
        self.params[key] = value

    def log_batch(self, run: str, metrics: Sequence[Metric]) -> None:
        assert len(metrics) <= BATCH
        self.metrics += metrics

    def log_artifacts(self, run: str, folder: str) -> None:
        self.folder = folder

    def set_terminated(self, run: str, status: str) -> None:
        self.status = status


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("mlflow")
    module.MlflowClient, module.MlflowException = Client, RuntimeError
    module.entities = SimpleNamespace(Metric=Metric)
    monkeypatch.setitem(sys.modules, "mlflow", module)


@pytest.mark.usefixtures("stand_in")
def test_means_then_every_run_then_the_folder(tmp_path: Path) -> None:
    tracker = MLflow("http://there", "cora", "l2b", {"lr": 0.01})
    tracker.on_epoch(1, history().metrics[0], 2)
    tracker.on_epoch(2, history().metrics[1], 2)
    client: Any = tracker.client
    assert client.params == {"lr": 0.01}
    assert {(m.key, m.step) for m in client.metrics if "loss" in m.key} >= {("mean/val_loss", 1)}
    assert all(m.step == 1 for m in client.metrics), "a server is not called for every epoch"
    tracker.finish(history(), facts(), tmp_path)
    tracker.close()
    stopped = [m.step for m in client.metrics if m.key == "run-1/val_accuracy"]
    assert stopped == [1, 2]
    assert ("test_mean", 1.5) in {(m.key, m.value) for m in client.metrics}
    assert (client.folder, client.status) == (str(tmp_path), "FINISHED")


@pytest.mark.usefixtures("stand_in")
def test_what_was_not_finished_has_failed() -> None:
    tracker = MLflow("http://there", "cora", "l2b", {})
    tracker.close()
    client: Any = tracker.client
    assert client.status == "FAILED"


@pytest.mark.usefixtures("stand_in")
def test_a_server_that_does_not_answer_is_told_in_one_line() -> None:
    with pytest.raises(
        RunError, match=r"--mlflow http://nobody: nobody answers a long story; check"
    ) as error:
        MLflow("http://nobody", "cora", "l2b", {})
    assert "\n" not in str(error.value)


def test_without_mlflow_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(RunError, match=r"pip install 'ppro\[mlflow\]'"):
        MLflow("runs", "cora", "l2b", {})


def test_a_real_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "result.json").write_text("{}")
    uri = (tmp_path / "store").as_uri()
    tracker = MLflow(uri, "cora", "l2b", {"lr": 0.01, "dataset": "cora"})
    tracker.on_epoch(1, history().metrics[0], 2)
    tracker.finish(history(), facts(), tmp_path / "run")
    tracker.close()
    client = mlflow.MlflowClient(tracking_uri=uri)
    found = client.get_run(tracker.run)
    assert found.data.params["lr"] == "0.01"
    assert found.data.metrics["test_mean"] == 1.5
    assert [m.step for m in client.get_metric_history(tracker.run, "run-0/val_loss")] == [1, 2, 3]
    assert found.info.status == "FINISHED"


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("http://me:secret@host:5000", "http://***@host:5000"),
        ("http://token@host", "http://***@host"),
        ("http://host:5000", "http://host:5000"),
        ("folder", "folder"),
    ],
)
def test_a_password_is_never_shown(uri: str, shown: str) -> None:
    assert masked(uri, uri) == shown
    told = masked(f"cannot reach {uri} with secret", uri)
    assert ("secret" in told) == ("secret" not in uri)
