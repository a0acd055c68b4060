"""Trainings with very few labels, and what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import QUICK, Command
from tests.cli.test_own_graph import FILES, rows

pytest.importorskip("pyarrow")


def write(folder: Path, labelled: int, edges: str = "u,v") -> None:
    cells = [f"{k},{k % 3 + k / 100},{'abc'[k % 3] if k < labelled else ''}" for k in range(30)]
    (folder / "nodes.csv").write_text("\n".join(["id,x,topic", *cells]) + "\n")
    pairs = [f"{k},{(k + 3) % 30}{',2' * (edges.count(',') - 1)}" for k in range(30)]
    (folder / "edges.csv").write_text("\n".join([edges, *pairs]) + "\n")


@pytest.mark.parametrize(
    ("labelled", "text"),
    [
        (3, "none can be spared to validate"),
        (6, "as few as one training node in 3 of 3 classes"),
        (9, "no node is for testing"),
    ],
)
def test_few_labels_train_and_are_told_of_once(
    ppro: Command, workplace: Path, labelled: int, text: str
) -> None:
    write(workplace, labelled)
    ended = ppro("train", *FILES, *QUICK, "--out", "run")
    assert ended.status == 0, ended.err
    assert " ".join(ended.err.split()).count(text) == 1
    assert sum(row["split"] == "train" for row in rows(workplace / "run/nodes.csv")) >= 3
    assert ppro("predict", "run").status == 0


def test_weights_and_other_columns_are_told_of_at_training(ppro: Command, workplace: Path) -> None:
    write(workplace, 30, edges="u,v,weight,since")
    ended = ppro("train", *FILES, *QUICK, "--backbone", "gat", "--out", "run")
    assert ended.status == 0, ended.err
    told = " ".join(ended.err.split())
    assert "column weight weighs the edges" in told
    assert "column since is not used" in told
    assert "gat does not use the weights of the edges" in told
