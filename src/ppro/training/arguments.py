"""What a training is asked to do: one graph, a split of it, and settings for each of its runs."""

from collections.abc import Sequence

from ppro.data.splits import Splits
from ppro.errors import DataError, SettingsError
from ppro.graph.core import Graph
from ppro.settings.settings import Settings


def check_arguments(graph: Graph, splits: Splits, settings: Sequence[Settings]) -> None:
    """Refuse what does not fit together, before anything is made of it.

    Raises:
        DataError: no graph of ours, or a split of another graph.
        SettingsError: no settings, or not one for each run of the split.
    """
    if not isinstance(graph, Graph):
        raise DataError(f"{type(graph).__name__} is no ppro.Graph; give ppro.as_graph(…) of it")
    if not isinstance(settings, Sequence) or not all(isinstance(s, Settings) for s in settings):
        raise SettingsError(
            "settings: give a list of ppro.Settings, one for each run of the split, such as "
            "[ppro.Settings(seed=0), ppro.Settings(seed=1)]"
        )
    check_count(splits, settings)
    nodes = splits.train.shape[-1]
    if nodes != graph.num_nodes:
        raise DataError(
            f"split {splits.name} is of {nodes} nodes, but {graph.name} has {graph.num_nodes}; "
            "make a split of this graph"
        )


def check_count(splits: Splits, settings: Sequence[Settings]) -> None:
    """Refuse settings that are not one for each run of the split.

    Raises:
        SettingsError: they are fewer or more.
    """
    if splits.runs != len(settings):
        raise SettingsError(
            f"split {splits.name} is of {splits.runs} runs, but there are settings of "
            f"{len(settings)}; give each run its settings"
        )
