"""Graphs in files of every kind, spoiled."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ppro.data import load_graph, make_splits
from ppro.data.files import save_graph
from ppro.data.files.export import export_graph
from ppro.data.large import LargePlan, generate_large
from tests.hostile.case import TINY, Case
from tests.hostile.mutate import spoiled_bytes, spoiled_lines, spoiled_tree

PAIR = ("--nodes", "nodes.csv", "--edges", "edges.csv")
PARQUET = ("--nodes", "nodes.parquet", "--edges", "edges.parquet")


def write_seeds(folder: Path) -> None:
    """Write one sound graph in every format."""
    graph = load_graph("csbm", options={"nodes": 40, "classes": 3, "features": 6, "degree": 4})
    splits = make_splits(graph, "csbm", "random-60-20-20", 2, 0)
    export_graph(graph, folder / "nodes.csv", folder / "edges.csv", splits)
    export_graph(graph, folder / "nodes.parquet", folder / "edges.parquet")
    for name in ("nodes.csv", "edges.csv"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes(), mtime=0))
    save_graph(folder / "g.safetensors", graph, splits)
    x = graph.features.to_dense() if graph.features.layout != torch.strided else graph.features
    once = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]].t().numpy()
    ids = np.array([f"n{i}" for i in range(graph.num_nodes)])
    arrays: dict[str, Any] = {"edges": once, "node_features": x.numpy(), "node_ids": ids}
    np.savez(folder / "g.npz", node_labels=graph.labels.numpy(), **arrays)
    (folder / "g.graphml").write_text(_graphml(x, graph.labels, once), encoding="utf-8")
    (folder / "large").mkdir()
    generate_large(folder / "large", LargePlan(nodes=200, degree=4.0, classes=3, features=4))


def _graphml(x: torch.Tensor, labels: torch.Tensor, edges: np.ndarray) -> str:
    nodes = "".join(
        f'<node id="n{i}"><data key="l">{c}</data><data key="x">{float(v):.3f}</data></node>\n'
        for i, (c, v) in enumerate(zip(labels.tolist(), x[:, 0], strict=True))
    )
    links = "".join(f'<edge source="n{u}" target="n{v}"/>\n' for u, v in edges.tolist())
    keys = (
        '<key id="l" for="node" attr.name="label" attr.type="string"/>\n'
        '<key id="x" for="node" attr.name="x" attr.type="double"/>\n'
    )
    return f'<graphml>\n{keys}<graph edgedefault="undirected">\n{nodes}{links}</graph></graphml>\n'


FILES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "CSV": (("nodes.csv", "edges.csv"), PAIR),
    "packed CSV": (
        ("nodes.csv.gz", "edges.csv.gz"),
        tuple(f"{w}.gz" if "." in w else w for w in PAIR),
    ),
    "Parquet": (("nodes.parquet", "edges.parquet"), PARQUET),
    "npz": (("g.npz",), ("g.npz",)),
    "GraphML": (("g.graphml",), ("g.graphml",)),
    "safetensors": (("g.safetensors",), ("g.safetensors",)),
}


def cases(seeds: Path, seed: int, each: int) -> Iterator[Case]:
    """Yield ``each`` spoiled files of every format, and what can be wrong with any file."""
    for group, (names, words) in FILES.items():
        for number in range(each):
            chance = random.Random(f"{seed}-{group}-{number}")
            make = partial(_bytes, seeds, names, words, chance.random())
            yield Case(group, f"bytes {number}", make)
        for what in ("pipe", "folder", "device", "empty", "gone", "unreadable"):
            yield Case(group, what, partial(_special, seeds, names, words, what))
    for number in range(each):
        yield Case("CSV", f"lines {number}", partial(_lines, seeds, f"{seed}-{number}"))
    for number in range(each):
        yield Case("graph on disk", f"{number}", partial(_large, seeds, f"{seed}-{number}"))


def _copy(seeds: Path, names: tuple[str, ...], folder: Path) -> None:
    for name in names:
        shutil.copy(seeds / name, folder / name)


def _bytes(
    seeds: Path, names: tuple[str, ...], words: tuple[str, ...], start: float, folder: Path
) -> tuple[str, ...]:
    chance = random.Random(start)
    _copy(seeds, names, folder)
    path = folder / chance.choice(names)
    path.write_bytes(spoiled_bytes(path.read_bytes(), chance))
    return ("train", *words, *TINY)


def _lines(seeds: Path, start: str, folder: Path) -> tuple[str, ...]:
    chance = random.Random(start)
    _copy(seeds, ("nodes.csv", "edges.csv"), folder)
    path = folder / chance.choice(("nodes.csv", "edges.csv"))
    text = spoiled_lines(path.read_text(encoding="utf-8"), chance)
    path.write_text(text, encoding="utf-8")
    return ("train", *PAIR, *TINY)


def _special(
    seeds: Path, names: tuple[str, ...], words: tuple[str, ...], what: str, folder: Path
) -> tuple[str, ...]:
    _copy(seeds, names, folder)
    path = folder / names[0]
    path.unlink()
    ways: dict[str, Callable[[], object]] = {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "device": lambda: path.symlink_to("/dev/zero"),
        "empty": path.touch,
        "gone": lambda: None,
        "unreadable": lambda: path.symlink_to(path),
    }
    ways[what]()
    return ("train", *words, *TINY)


def _large(seeds: Path, start: str, folder: Path) -> tuple[str, ...]:
    chance = random.Random(start)
    shutil.copytree(seeds / "large", folder / "large")
    path = chance.choice(sorted((folder / "large").iterdir()))
    if path.suffix == ".json":
        tree = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(spoiled_tree(tree, chance, (None,))), encoding="utf-8")
    else:
        path.write_bytes(spoiled_bytes(path.read_bytes(), chance))
    return ("train", "large", *TINY)
