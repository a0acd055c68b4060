"""Metrics to MLflow."""

import os
import re
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from torch import Tensor

from ppro.errors import RunError
from ppro.insight.tracking.base import LONGEST, SUMMARY, Facts, means, rows
from ppro.training.stopping import History

EVERY = 1.0
"""Seconds between two calls of a server while training."""

BATCH = 1000
"""Most metrics that MLflow takes in one call."""

PATIENCE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "20"}
"""Unless the user says otherwise: MLflow's own would hold up training for minutes."""


class MLflow:
    """A run of MLflow: parameters, means while training, results, and the run folder's files.

    Args:
        uri: of the tracking server, or a folder.
        experiment: the experiment that the run belongs to, such as the dataset.
        name: of the run.
        parameters: what the training is made of.
    """

    def __init__(self, uri: str, experiment: str, name: str, parameters: Mapping[str, Any]) -> None:
        try:
            import mlflow
        except ImportError:
            raise RunError(
                "MLflow is not installed; install it with: pip install 'ppro[mlflow]'"
            ) from None
        for key, value in PATIENCE.items():
            os.environ.setdefault(key, value)
        self._metric = mlflow.entities.Metric
        self._last, self._over = -EVERY, False
        with self._told(uri):
            self.client = mlflow.MlflowClient(tracking_uri=uri)
            found = self.client.get_experiment_by_name(experiment)
            place = found.experiment_id if found else self.client.create_experiment(experiment)
            self.run: str = self.client.create_run(place, run_name=name).info.run_id
            for key, value in parameters.items():
                self.client.log_param(self.run, key, value)
        self.uri = uri

    @contextmanager
    def _told(self, uri: str) -> Iterator[None]:
        """Turn problems of MLflow into one line, with a remedy."""
        try:
            yield
        except Exception as error:
            first = textwrap.shorten(masked(str(error), uri), LONGEST, placeholder=" …")
            shown = masked(uri, uri)
            raise RunError(
                f"--mlflow {shown}: {first}; check the address and that it runs"
            ) from None

    def on_epoch(self, epoch: int, metrics: Tensor, active: int) -> None:
        """Send the means of an epoch, if the last call was a while ago."""
        if time.monotonic() - self._last < EVERY:
            return
        self._last = time.monotonic()
        self._send([(f"mean/{name}", value, epoch) for name, value in means(metrics).items()])

    def finish(self, history: History, facts: Facts, folder: Path) -> None:
        """Send every run, what came out, and the files of the run folder."""
        lines = [
            (f"run-{run}/{name}", value, epoch)
            for run, epoch, values in rows(history)
            for name, value in values.items()
        ]
        self._send([*lines, *((name, float(facts[name]), 0) for name in SUMMARY)])
        with self._told(self.uri):
            self.client.log_artifacts(self.run, str(folder))
        self._over = True

    def _send(self, metrics: Sequence[tuple[str, float, int]]) -> None:
        now = int(time.time() * 1000)
        # MLflow refuses NaN in some of its stores.
        sent = [self._metric(name, v, now, epoch) for name, v, epoch in metrics if v == v]
        with self._told(self.uri):
            for begin in range(0, len(sent), BATCH):
                self.client.log_batch(self.run, metrics=sent[begin : begin + BATCH])

    def close(self) -> None:
        """End the run; one that was not finished counts as failed."""
        # A server that is gone by now has been told of already.
        with suppress(RunError), self._told(self.uri):
            self.client.set_terminated(self.run, "FINISHED" if self._over else "FAILED")


def masked(text: str, uri: str) -> str:
    """Return a text without the password, or the token, that an address holds."""
    secrets = re.findall(r"://([^/?#]*)@", uri)
    parts = [part for secret in secrets for part in (secret, secret.partition(":")[2]) if part]
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, "***")
    return text
