"""How far the nodes of a run differ in step and priority under the shipped recipes."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ppro.data import dataset_info
from ppro.files import markdown_table
from ppro.settings.recipe import Recipe
from ppro.training.diagnosis import Diagnosis, PrioritySpread, StepSpread

TITLE = "Steps and priorities within runs"
_TEXT = """\
Of the same fresh runs, over all nodes of the graph. *Largest shares*: the share of the nodes at the
most common step of a run, at the second and at the third, each a mean over the runs; *steps*: the
steps with the largest mean shares. *At one step*: runs in which more than 95 % of the nodes share a
step. *Priorities*: mean ± standard deviation within a run and the range of the middle 90 %, means
over the runs; *equal*: runs whose priorities are all the same (a deviation below a thousandth of
the mean, or more than 95 % of the nodes at one value). What has collapsed in most runs is
**marked**."""
_HEAD = "graph|strategy|runs|largest shares|steps|at one step|priorities|equal"
_NOT_RECORDED = "not recorded"


def markdown(recipes: Sequence[tuple[Recipe, dict[str, Any]]]) -> str:
    """Return the table of the recipes that have been measured.

    Args:
        recipes: those with controllers, and the records of their fresh runs.
    """
    if not recipes:
        return ""
    rows = [_row(recipe, record) for recipe, record in recipes]
    parts = [f"### {TITLE}", _TEXT, markdown_table(_HEAD.split("|"), rows)]
    known = [found for _, record in recipes if (found := _read(record)) is not None]
    if known:
        one_step = sum(found.shares_a_step for found in known)
        equal = sum(found.has_equal_priorities for found in known)
        parts.append(
            f"In most runs at one step: {one_step} of {len(known)} recipes; with equal "
            f"priorities: {equal} of {len(known)}."
        )
    return "\n\n".join(parts) + "\n"


def is_recorded(record: dict[str, Any]) -> bool:
    """Tell whether a record says what steps and priorities did within its runs."""
    return record.get("diagnosis") is not None


def _read(record: dict[str, Any]) -> Diagnosis | None:
    return Diagnosis.read(record.get("diagnosis"))


def _row(recipe: Recipe, record: dict[str, Any]) -> list[str]:
    title, strategy = dataset_info(recipe.dataset).title, recipe.settings.strategy
    runs, found = record["runs"], _read(record)
    begin = [title, strategy, str(runs)]
    if found is None:
        return [*begin, *[_NOT_RECORDED] * 5]
    steps = ["–"] * 3 if found.steps is None else _of_steps(found.steps)
    priorities = ["–"] * 2 if found.priorities is None else _of_priorities(found.priorities)
    return [
        *begin,
        *steps[:2],
        _marked(steps[2], found.shares_a_step),
        priorities[0],
        _marked(priorities[1], found.has_equal_priorities),
    ]


def _of_steps(runs: Sequence[StepSpread]) -> list[str]:
    ordered = [sorted(run.shares, reverse=True)[:3] for run in runs]
    largest = [fmean(share) for share in zip(*ordered, strict=True)]
    means = [fmean(share) for share in zip(*(run.shares for run in runs), strict=True)]
    top = sorted(range(len(means)), key=lambda k: -means[k])[:3]
    shown = [f"{k}: {_percent(means[k])}" for k in top if means[k] >= 0.005]
    at_one = f"{sum(run.is_one for run in runs)} of {len(runs)}"
    return [", ".join(map(_percent, largest)), ", ".join(shown), at_one]


def _of_priorities(runs: Sequence[PrioritySpread]) -> list[str]:
    means = {key: fmean(getattr(run, key) for run in runs) for key in vars(runs[0])}
    told = (
        f"{means['mean']:.2f} ± {means['deviation']:.2f}, {means['low']:.2f} to {means['high']:.2f}"
    )
    if means["capped"] >= 0.005:
        told += f", {_percent(means['capped'])} at the cap"
    return [told, f"{sum(run.is_one for run in runs)} of {len(runs)}"]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _marked(text: str, mark: bool) -> str:
    return f"**{text}**" if mark else text
