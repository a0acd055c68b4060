"""What a training leaves: one folder format, the ways to open it, and the estimator.

A run folder is described by ``config`` (settings.toml), ``summary`` and ``facts`` (result.json),
``metrics_file`` (metrics.jsonl), ``tensors`` (weights.safetensors), ``nodes`` (nodes.safetensors)
and ``nodetable`` (nodes.csv); ``writing`` writes it as a whole, ``opening`` opens it as a
``saved_run``, ``format_1`` does so for folders of version 0.1, and ``problems`` says what is wrong
with a file. ``place`` finds the folder of a training and its checkpoint, ``source`` the graph of a
run, ``cautions`` what its labels and edges cannot do, ``torchrun`` the processes that train
together; ``predicting`` applies a run to a graph or, with ``receptive``, to a part of one,
``calibrating`` adjusts its probabilities, and ``refit`` learns from all labels.
``estimator`` with ``estimator_parameters``, ``estimator_search``,
``node_description``, ``table_input``, ``scoring`` and ``saving`` is PPro on the contract of
scikit-learn. Nothing here trains by itself, and nothing prints.
"""

from typing import TYPE_CHECKING

from ppro.parts.lazy import lazy

if TYPE_CHECKING:
    from ppro.runs.opening import open
    from ppro.runs.saved_run import SavedRun

__all__ = ["SavedRun", "open"]

__getattr__ = lazy(__name__, {"ppro.runs.opening": ("open",), "ppro.runs.saved_run": ("SavedRun",)})
