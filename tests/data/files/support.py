"""Tables of a small graph, written to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ppro.data.files import FileSource, Layout, Reading, Schema, read_source

NODES = """id,age,city,topic,part
n0,20,Rome,x,train
n1,,Bonn,y,train
n2,40,Rome,,none
n3,30,,x,val
n4,50,Oslo,y,test
"""
EDGES = """source,target,w
n0,n1,1
n1,n0,3
n1,n2,2
n3,n3,1
n3,n4,5
n3,n4,4
"""


def written(folder: Path, nodes: str = NODES, edges: str = EDGES) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "nodes.csv", folder / "edges.csv"
    for path, text in zip(paths, (nodes, edges), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def reading(
    folder: Path,
    nodes: str = NODES,
    edges: str = EDGES,
    schema: Schema | None = None,
    **layout: Any,
) -> Reading:
    first, second = written(folder, nodes, edges)
    chosen = Layout(**{"label": "topic", **layout})
    return read_source(FileSource(nodes=str(first), edges=str(second), layout=chosen), schema)
