"""Old names, until the commands use the new ones."""

from ppro.runs.config import RunConfig, read_config, run_settings, write_config
from ppro.runs.summary import mean_std, summary
from ppro.runs.tensors import read_weights, write_weights
from ppro.runs.writing import SCHEMA, check_writable, write_run

__all__ = [
    "SCHEMA",
    "RunConfig",
    "check_writable",
    "mean_std",
    "read_config",
    "read_weights",
    "run_settings",
    "summary",
    "write_config",
    "write_run",
    "write_weights",
]
