"""``python -m tests.hostile.fuzz``: every reader on graphs that Hypothesis draws and spoils.

Files are made from a drawn graph, so that most of them come past the first checks, and then spoiled
by a drawn seed. A reader returns a graph or raises a PProError; anything else is a finding.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from ppro.data.files import FileSource, Layout, read_source
from ppro.errors import PProError
from tests.hostile.mutate import spoiled_bytes

LONGEST = 1600
"""Characters of a message, paths included."""
TEXT = st.text(st.characters(exclude_categories=[]), max_size=12)
CELLS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=True, allow_infinity=True),
    st.booleans(),
    TEXT,
    st.none(),
    st.sampled_from(["", "NA", "-1", "00042", "1,5", "1e400", "=1+1", "\x1b[2J", "9" * 5000]),
)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Columns of equal length, some of them with the usual names."""
    rows = draw(st.integers(0, 8))
    names = draw(
        st.lists(st.sampled_from(["id", "label", "x", "source", "target", "weight"]) | TEXT)
    )
    usual = draw(st.sampled_from([("id", "label", "x"), ("source", "target"), ()]))
    kinds = st.sampled_from(
        [CELLS, st.integers(0, 5), st.integers(0, 2).map(str), st.floats(-2, 2)]
    )
    return {
        name: draw(st.lists(draw(kinds), min_size=rows, max_size=rows)) for name in (*usual, *names)
    }


ARRAYS = st.dictionaries(
    st.sampled_from(
        [
            *("edges", "edge_index", "node_features", "x", "node_labels", "y", "edge_weights"),
            *("train_masks", "val_masks", "test_masks", "train_mask", "node_ids", "class_names"),
        ]
    ),
    st.tuples(
        st.sampled_from(["<i8", "<f4", "<f8", "?", "<u8", "<U3", "<f2", "<i1"]),
        st.lists(st.integers(0, 6), max_size=3),
        st.integers(0, 2**32 - 1),
    ),
    min_size=2,
)


def _array(kind: str, shape: list[int], start: int) -> Any:
    chance = np.random.default_rng(start)
    if kind == "<U3":
        return chance.integers(0, 4, shape).astype(str)
    return chance.integers(-1, 6, shape).astype(kind)


def _csv(columns: dict[str, list[Any]]) -> bytes:
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _parquet(columns: dict[str, list[Any]], path: Path) -> None:
    made = {}
    for name, values in columns.items():
        try:
            made[name] = pa.array(values)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            made[name] = pa.array([repr(value) for value in values])
    try:
        pq.write_table(pa.table(made), path)
    except (pa.ArrowException, ValueError, UnicodeError):
        path.write_bytes(b"PAR1")


def _xml(columns: dict[str, list[Any]], edges: dict[str, list[Any]]) -> bytes:
    keys = "".join(
        f'<key id="{i}" for="node" attr.name="{n}" attr.type="string"/>'
        for i, n in enumerate(columns)
    )
    rows = list(zip(*columns.values(), strict=True))
    nodes = "".join(
        f'<node id="{k}">'
        + "".join(f'<data key="{i}">{v}</data>' for i, v in enumerate(row))
        + "</node>"
        for k, row in enumerate(rows)
    )
    ends = zip(*list(edges.values())[:2], strict=False)
    links = "".join(f'<edge source="{end[0]}" target="{end[-1]}"/>' for end in ends)
    text = f'<graphml>{keys}<graph edgedefault="undirected">{nodes}{links}</graph></graphml>'
    return text.encode("utf-8", "surrogatepass")


def _read(source: FileSource) -> None:
    told = ""
    try:
        read_source(source)
    except PProError as error:
        told = str(error)
    assert "\n" not in told, told
    assert len(told) < LONGEST, told


def csv_files(nodes: dict[str, list[Any]], edges: dict[str, list[Any]], start: int | None) -> None:
    """Tables as CSV."""
    with tempfile.TemporaryDirectory() as place:
        for name, columns in (("n.csv", nodes), ("e.csv", edges)):
            (Path(place) / name).write_bytes(_spoiled(_csv(columns), start))
        _read(FileSource(nodes=f"{place}/n.csv", edges=f"{place}/e.csv", layout=Layout()))


def parquet_files(
    nodes: dict[str, list[Any]], edges: dict[str, list[Any]], start: int | None
) -> None:
    """Tables as Parquet."""
    with tempfile.TemporaryDirectory() as place:
        for name, columns in (("n.parquet", nodes), ("e.parquet", edges)):
            path = Path(place) / name
            _parquet(columns, path)
            path.write_bytes(_spoiled(path.read_bytes(), start))
        _read(FileSource(nodes=f"{place}/n.parquet", edges=f"{place}/e.parquet"))


def graphml_files(
    nodes: dict[str, list[Any]], edges: dict[str, list[Any]], start: int | None
) -> None:
    """A GraphML file."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "g.graphml"
        path.write_bytes(_spoiled(_xml(nodes, edges), start))
        _read(FileSource(graph=str(path)))


def npz_files(arrays: dict[str, tuple[str, list[int], int]], start: int | None) -> None:
    """Arrays as npz."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "g.npz"
        made: dict[str, Any] = {name: _array(*parts) for name, parts in arrays.items()}
        np.savez(path, **made)
        path.write_bytes(_spoiled(path.read_bytes(), start))
        _read(FileSource(graph=str(path)))


def safetensors_files(
    arrays: dict[str, tuple[str, list[int], int]], start: int | None, facts: str | None
) -> None:
    """Arrays as safetensors."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "g.safetensors"
        found = {name: _array(*parts) for name, parts in arrays.items()}
        made = {name: value for name, value in found.items() if value.dtype.kind != "U"}
        plain = None if facts is None else facts.encode("utf-8", "replace").decode()
        path.write_bytes(_spoiled(save(made, None if plain is None else {"ppro": plain}), start))
        _read(FileSource(graph=str(path)))


def _spoiled(content: bytes, start: int | None) -> bytes:
    return content if start is None else spoiled_bytes(content, random.Random(start))


START = st.none() | st.integers(0, 2**32)
_PAIR: dict[str, Any] = {"nodes": tables(), "edges": tables(), "start": START}
READERS: dict[str, tuple[Callable[..., None], dict[str, Any]]] = {
    "csv": (csv_files, _PAIR),
    "parquet": (parquet_files, _PAIR),
    "graphml": (graphml_files, _PAIR),
    "npz": (npz_files, {"arrays": ARRAYS, "start": START}),
    "safetensors": (
        safetensors_files,
        {"arrays": ARRAYS, "start": START, "facts": st.none() | TEXT},
    ),
}


def fuzz(name: str, examples: int, start: int) -> None:
    """Give a reader so many files; an error of another kind than ours is raised."""
    reader, drawn = READERS[name]
    chosen = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    test: Callable[[], None] = seed(start)(chosen(given(**drawn)(reader)))
    test()


def main() -> None:
    """Fuzz every reader in turn until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    begin, rounds, files = time.monotonic(), 0, 0
    while time.monotonic() - begin < chosen.seconds:
        for reader in READERS:
            fuzz(reader, 200, chosen.seed + rounds)
            files += 200
        rounds += 1
    print(f"{files:,} files in {time.monotonic() - begin:.0f} s, nothing found")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
