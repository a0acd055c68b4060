"""Tracking: metrics to TensorBoard, to MLflow or to a JSONL file.

While training, the mean over the runs is told, as the progress line does: the runs of a batch are
not always at the same epoch, and on a GPU the host looks at every tenth one only. When training is
over, TensorBoard and MLflow are given every run exactly as ``metrics.jsonl`` holds it.
"""

from ppro.insight.tracking.base import Tracker, finish, listener
from ppro.insight.tracking.jsonl import JsonLines
from ppro.insight.tracking.mlflow import MLflow
from ppro.insight.tracking.tensorboard import TensorBoard

__all__ = ["JsonLines", "MLflow", "TensorBoard", "Tracker", "finish", "listener"]
