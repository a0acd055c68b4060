"""Metrics of a training for other programs: TensorBoard, MLflow, or a file that grows.

``base`` says what a tracker is, ``jsonl``, ``tensorboard`` and ``mlflow`` are the three. While
training they are told the mean over the runs, as the progress line is: the runs of a batch are not
always at the same epoch, and on a GPU the program looks at every tenth one only. When training is
over, TensorBoard and MLflow are given every run exactly as ``metrics.jsonl`` holds it.
"""

from ppro.insight.tracking.base import Tracker, finish, listener
from ppro.insight.tracking.jsonl import JsonLines
from ppro.insight.tracking.mlflow import MLflow
from ppro.insight.tracking.tensorboard import TensorBoard

__all__ = ["JsonLines", "MLflow", "TensorBoard", "Tracker", "finish", "listener"]
