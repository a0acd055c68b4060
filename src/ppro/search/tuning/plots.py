"""Pictures of a search: how it went on, and which choices mattered."""

import warnings
from pathlib import Path
from typing import Any

from ppro.files import whole_file
from ppro.search.tuning.study import SharedStudy

MISSING = "no pictures: matplotlib is missing; pip install 'ppro[plots]'"


def write_plots(study: SharedStudy, importances: dict[str, float], folder: Path) -> list[Path]:
    """Draw history and importance as PNG files; returns those written.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    written = []
    if complete := study.complete():
        figure = Figure(figsize=(7, 4), layout="constrained")
        _history(figure.subplots(), study, [(t.number, float(t.value or 0)) for t in complete])
        written.append(_saved(figure, folder / "history.png"))
    if importances:
        figure = Figure(figsize=(7, 1 + 0.35 * len(importances)), layout="constrained")
        _importance(figure.subplots(), importances)
        written.append(_saved(figure, folder / "importance.png"))
    return written


def _history(axes: Any, study: SharedStudy, complete: list[tuple[int, float]]) -> None:
    pruned = [
        (t.number, t.intermediate_values[1])
        for t in study.study.get_trials(deepcopy=False)
        if t.state.name == "PRUNED" and 1 in t.intermediate_values
    ]
    if pruned:
        axes.scatter(*zip(*pruned, strict=True), s=14, c="0.7", label="pruned (one seed)")
    complete.sort()
    axes.scatter(*zip(*complete, strict=True), s=18, c="tab:blue", label="mean over all seeds")
    best = [max(value for _, value in complete[: i + 1]) for i in range(len(complete))]
    numbers = [number for number, _ in complete]
    axes.step(numbers, best, where="post", c="tab:red", label="best so far")
    axes.set(xlabel="trial", ylabel="validation accuracy (%)", title=study.study.study_name)
    axes.legend()


def _importance(axes: Any, importances: dict[str, float]) -> None:
    names = list(importances)[::-1]
    axes.barh(names, [importances[name] for name in names], color="tab:blue")
    axes.set(xlabel="share of the spread that the choice explains", xlim=(0, None))


def _saved(figure: Any, path: Path) -> Path:
    with whole_file(path) as part, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure.savefig(part, format="png", dpi=120)
    return path
