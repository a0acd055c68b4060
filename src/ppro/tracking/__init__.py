"""Tracking: metrics to TensorBoard, to MLflow or to a JSONL file.

While training, the mean over the runs is told, as the progress line does: the runs of a batch are
not always at the same epoch, and on a GPU the host looks at every tenth one only. When training is
over, TensorBoard and MLflow are given every run exactly as ``metrics.jsonl`` holds it.
"""

from ppro.tracking.base import Tracker, finish, listener
from ppro.tracking.jsonl import JsonLines
from ppro.tracking.mlflow import MLflow
from ppro.tracking.tensorboard import TensorBoard

__all__ = ["JsonLines", "MLflow", "TensorBoard", "Tracker", "finish", "listener"]
