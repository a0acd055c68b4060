"""Training on a large graph with its features on disk, measured in a process of its own."""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Literal

from torch import Tensor

from ppro.data.large import LargePlan, read_large
from ppro.data.large.store import read_meta
from ppro.data.splits import fixed_splits
from ppro.errors import DataError, PProError
from ppro.paper.bench.memory import status_kib
from ppro.processes import run_module
from ppro.settings.limits import LARGE_EPOCHS
from ppro.settings.settings import Settings
from ppro.training.fit import fit
from ppro.training.memory import Sizes, estimate
from ppro.training.stopping import MEASURED

Method = Literal["l2b", "mlp"]
METHODS: tuple[Method, ...] = ("l2b", "mlp")
LR = 0.02
MAX_STEPS = 10

_VAL = MEASURED.index("val_accuracy")


@dataclass(frozen=True)
class LargeCase:
    """One training: a generated graph, a method, a number of epochs."""

    nodes: int
    degree: float
    classes: int
    features: int
    method: Method
    epochs: int = LARGE_EPOCHS

    @property
    def plan(self) -> LargePlan:
        """Return the graph."""
        sizes = {"nodes": self.nodes, "degree": self.degree}
        return LargePlan(**sizes, classes=self.classes, features=self.features)  # type: ignore[arg-type]

    def settings(self) -> Settings:
        """L2B around APPNP in class form, or the MLP; the same learning rate and epochs."""
        same: dict[str, Any] = {"feature_norm": "none", "lr": LR, "epochs": self.epochs}
        if self.method == "mlp":
            return Settings(model="mlp", strategy="none", **same)
        return Settings(strategy="l2b", form="class", max_steps=MAX_STEPS, **same)


def graph_folder(root: Path, plan: LargePlan) -> Path:
    """Return where the graph of a plan lies."""
    sizes = (plan.nodes, f"{plan.degree:g}", plan.classes, plan.features)
    return root / "-".join(map(str, sizes))


def ensure_graph(root: Path, plan: LargePlan) -> Path:
    """Return the folder of a graph, generated in a process of its own where it is not there yet.

    Raises:
        DataError: the folder holds another graph.
        PProError: the graph could not be generated.
    """
    folder = graph_folder(root, plan)
    if not folder.exists():
        sizes = (f"--{key}={getattr(plan, key)}" for key in ("nodes", "degree", "classes"))
        words = ["data", "generate", str(folder.absolute()), *sizes, f"--features={plan.features}"]
        _child(["ppro", *words], f"generating {folder} failed")
    made = read_meta(folder).made_with
    if made != {key: float(value) for key, value in asdict(plan).items()}:
        raise DataError(f"{folder}: another graph than the one to measure; remove it")
    return folder


def measure_large(root: Path, case: LargeCase) -> dict[str, Any]:
    """Train in a process of its own; its progress goes to standard error.

    Raises:
        PProError: the training failed.
    """
    folder = ensure_graph(root, case.plan)
    words = ["ppro.paper.bench.large", str(folder.absolute()), json.dumps(asdict(case))]
    row: dict[str, Any] = json.loads(_child(words, f"training on {folder} failed"))
    return row


def _child(words: list[str], failure: str) -> str:
    """Return the last line that a module prints on standard output."""
    done = run_module(words[0], words[1:], stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise PProError(f"{failure}; the lines above say why")
    return done.stdout.splitlines()[-1]


def trained(folder: Path, case: LargeCase) -> dict[str, Any]:
    """Train in this process: seconds per epoch, peak memory beside its estimate, accuracy."""
    begin = time.perf_counter()
    graph, masks = read_large(folder)
    assert masks is not None
    settings, ticks = case.settings(), [time.perf_counter()]
    read = ticks[0] - begin

    def on_epoch(epoch: int, metrics: Tensor, going: int) -> None:
        ticks.append(time.perf_counter())
        state = f"epoch {epoch} of {case.epochs}, val {100 * float(metrics[_VAL, 0]):.1f} %"
        took = "" if epoch == 1 else f", {ticks[-1] - ticks[-2]:.1f} s"
        print(f"{case.method}, {case.nodes:,} nodes: {state}{took}", file=sys.stderr, flush=True)

    result = fit(
        graph, fixed_splits(masks, graph.labels, "given", 1), [settings], on_epoch=on_epoch
    )
    if result.history.interrupted:
        raise PProError("interrupted: half a training says nothing")
    # The first epoch comes after the graph is prepared.
    seconds = [end - start for start, end in pairwise(ticks[1:])] or [result.seconds]
    return {
        **asdict(case),
        "edges": graph.num_edges,
        "hidden": settings.network.hidden,
        "max_steps": settings.network.max_steps,
        "lr": settings.training.lr,
        "threads": result.threads,
        "read_s": read,
        "around_s": time.perf_counter() - begin - read - result.seconds,
        "epoch_s": median(seconds),
        "peak_bytes": 1024 * status_kib("VmHWM"),
        "estimate_bytes": estimate(Sizes.of(graph), settings, 1).total,
        "mean_step": float(result.nodes.steps.double().mean()),
        "val_accuracy": float(result.val_accuracy[0]),
        "test_accuracy": float(result.test_accuracy[0]),
    }


if __name__ == "__main__":
    try:
        print(json.dumps(trained(Path(sys.argv[1]), LargeCase(**json.loads(sys.argv[2])))))
    except PProError as error:
        sys.exit(f"error: {error}")
