"""The catalogue: sources, licence, statistics, known defects and splits of every dataset.

Those whose files are fetched are listed in ``catalog.toml`` (the paper's graphs) and in
``benchmarks.toml`` (others), generated ones beside their generator.
"""

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from ppro.data.file_sets import FILE_SETS
from ppro.data.generated.csbm import CSBM
from ppro.data.generated.digits import DIGITS
from ppro.data.generated.planted import PLANTED
from ppro.data.records import DatasetInfo, FileSet, Statistics
from ppro.errors import DataError
from ppro.parts import nearest
from ppro.parts.choices import Kind


def _fetched(file: str) -> list[DatasetInfo]:
    text = resources.files(__package__).joinpath(file).read_text("utf-8")
    tables = tomllib.loads(text)
    return [_record(name, values, tables) for name, values in tables["datasets"].items()]


def _record(name: str, values: dict[str, Any], tables: Mapping[str, Any]) -> DatasetInfo:
    sizes: dict[str, Statistics] = {
        key: Statistics(**values.pop(key)) for key in ("expected", "paper") if key in values
    }
    lists = {key: tuple(v) for key, v in values.items() if isinstance(v, list)}
    shared = {
        "sources": tuple(_files(source) for source in values["sources"]),
        "licence": tables["licences"][values["licence"]],
        "citation": "; ".join(tables["citations"][key] for key in values["citation"]),
        "note": tables["notes"][values["note"]] if "note" in values else "",
    }
    given: dict[str, Any] = {**values, **lists, **sizes, **shared}
    return DatasetInfo(name=name, **given)


def _files(source: dict[str, Any]) -> FileSet:
    return FILE_SETS[source.pop("files")](**source)


_PAPERS, _OTHERS = _fetched("catalog.toml"), _fetched("benchmarks.toml")
DATASETS: dict[str, DatasetInfo] = {
    info.name: info for info in (*_PAPERS, *_OTHERS, DIGITS, CSBM, PLANTED)
}
PAPERS = tuple(info.name for info in _PAPERS)
"""The paper's graphs and their variants."""
_OF_THE_PACKAGE = frozenset(DATASETS)


def register_dataset(record: DatasetInfo) -> DatasetInfo:
    """Make a dataset known by its name to every command; registered again, it is replaced.

    Raises:
        DataError: the package has one of that name.
    """
    if record.name in _OF_THE_PACKAGE:
        raise DataError(f"dataset {record.name!r}: the package has one; choose another name")
    DATASETS[record.name] = record
    return record


def dataset_info(name: str) -> DatasetInfo:
    """Return the entry of a dataset.

    Raises:
        DataError: there is no such dataset.
    """
    if name not in DATASETS:
        raise DataError(
            f"unknown dataset {name!r}; {nearest(name, tuple(DATASETS))} (one of your own is known "
            "once the script that registers it has run: ppro --load FILE)"
        )
    return DATASETS[name]


def kind_of(name: str) -> Kind:
    """Tell whether neighbours in a dataset tend to share their class."""
    return dataset_info(name).kind


def default_split(name: str) -> str:
    """Return the split used when none is named."""
    return dataset_info(name).splits[0]
