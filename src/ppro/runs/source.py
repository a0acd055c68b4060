"""The graph of a run and the masks of its runs, from the catalogue or from files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ppro.data.files import (
    FileSource,
    Reading,
    Schema,
    file_splits,
    predict_only,
    read_source,
)
from ppro.data.loading import load_graph, make_splits
from ppro.data.noise import with_options
from ppro.data.splits import Splits
from ppro.errors import RunError
from ppro.graph.core import Graph
from ppro.runs.config import RunConfig
from ppro.runs.saved_run import SavedRun


def graph_and_splits(
    config: RunConfig, reading: Reading | None, *, data_root: Path | None, offline: bool
) -> tuple[Graph, Splits]:
    """Return the graph of a run and the masks of its runs.

    Args:
        reading: what the files of the run hold; None for a graph of the catalogue.
    """
    seed = config.settings.seed
    if reading is not None:
        graph = with_options(reading.graph, config.options)
        return graph, file_splits(reading, config.split, config.runs, seed)
    graph = load_graph(config.dataset, options=config.options, data_root=data_root, offline=offline)
    splits = make_splits(
        graph,
        config.dataset,
        config.split,
        config.runs,
        seed,
        data_root=data_root,
        offline=offline,
    )
    return graph, splits


def graph_of_run(
    saved: SavedRun,
    new: FileSource | None = None,
    *,
    data_root: Path | None = None,
    offline: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[Graph, Splits]:
    """Return the graph of a saved run and its masks.

    Args:
        new: files of another graph, or those of the training in another place. As in files that
            have changed since the training, no node of another graph has a part in the split.
        tell: called with what was done to the files.

    Raises:
        RunError: the run cannot take files, or needs some.
        DataError: the files are gone, broken, or do not fit the run.
    """
    config, schema = saved.config, saved.schema()
    if schema is None and new is not None:
        raise RunError(
            f"{saved.folder}: trained on the graph {config.dataset} of the catalogue, whose "
            f"features have no names; export it with 'ppro data export {config.dataset}' and train "
            "from files"
        )
    if config.estimator is not None and new is None:
        raise RunError(
            f"{saved.folder}: saved by an estimator, which does not keep its graph; give a graph "
            "in a file (ppro predict FOLDER GRAPH), or load it with ppro.load"
        )
    moved = new.moved_from(config.source) if new and config.source else None
    if moved is not None:
        new = None
    changed = config.source.changed() if config.source and not (new or moved) else []
    files = new or moved or config.source
    if files is None or not (new or changed):
        reading = None if files is None else _read_again(files, schema)
        return graph_and_splits(config, reading, data_root=data_root, offline=offline)
    reading = read_source(files, schema)
    for path in changed:
        tell(f"{path} has changed since the training: taken as a new graph")
    for note in reading.notes:
        tell(note)
    return reading.graph, predict_only(reading.graph, config.runs)


def _read_again(files: FileSource, schema: Schema | None) -> Reading:
    """Return what the files of a training hold: with its layout they give its schema again.

    Where an older version read a column otherwise, features are made as they were then.
    """
    reading = read_source(files.weighted_as(schema))
    if schema is None or reading.schema == schema:
        return reading
    return replace(read_source(files, schema), masks=reading.masks)
