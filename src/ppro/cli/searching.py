"""``ppro train`` where settings are searched first: what is shown, kept and passed on."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ppro.cli import console
from ppro.errors import SettingsError

if TYPE_CHECKING:
    from ppro.data.files import Reading
    from ppro.data.splits import Splits
    from ppro.graph.core import Graph
    from ppro.runs.config import RunConfig
    from ppro.search.auto_trials import Choice
    from ppro.settings.recipe import Recipe
    from ppro.training.fit import Fit

NEXT_BEST = 4
"""Runners-up that are told in a sentence; all are in the table and in ``result.json``."""
BARE_DEPTH, ONE_STEP = re.compile(r"\d+ steps?"), "1 step"
"""Names of candidates that are the bare network at a fixed depth."""
SPLITS = 5
"""Splits of a search, at least, where every run has its own."""
SEARCH = "search"
"""What the facts of a run call it."""


@dataclass(frozen=True)
class FromSearch:
    """What a training takes from the search before it, or from none.

    Args:
        until: the moment at which training ends, or None.
        facts: for ``result.json``.
        notes: what a reader of the result should know.
        again: the options with which a training that was stopped goes on, or "".
    """

    recipe: Recipe
    runs: int
    until: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    again: str = ""

    @classmethod
    def none(cls, recipe: Recipe, runs: int) -> Self:
        """Return what a training takes from no search."""
        return cls(recipe, runs)

    def notes_of(self, result: Fit) -> list[str]:
        """Return what there is to say of how the training ended, which is shown too."""
        cap, epochs = result.settings[0].training.epochs, result.history.epochs
        late = self.until is not None and time.monotonic() >= self.until
        capped = bool((epochs >= cap).all())
        if result.history.interrupted or not (late or (capped and self.has_cap)):
            return []
        many = "every run was" if epochs.numel() > 1 else "it was"
        more = "a larger --budget" if self.until is not None else f"--set epochs={2 * cap}"
        note = f"{many} still learning at the cap of {cap} epochs; {more} gives more"
        if not capped:
            note = (
                f"the budget ended the training after {int(epochs.max())} epochs; {more} gives more"
            )
        console.err.print(console.paragraph(note))
        return [note]

    @property
    def has_cap(self) -> bool:
        """Tell whether the cap of epochs is one that the package has set, not the user."""
        from ppro.search.choice import PLAIN_EPOCHS

        return self.until is not None or self.recipe.settings.training.epochs == PLAIN_EPOCHS


def asks_for_search(
    recipe: str | None,
    config: RunConfig,
    given: Mapping[str, Any],
    reading: Reading | None,
    *,
    resume: bool,
) -> bool:
    """Tell whether settings are searched before a training.

    Raises:
        SettingsError: they would be, but the search would not know where it is, or choose again.
    """
    from ppro.graph.large import LargeGraph
    from ppro.runs import torchrun
    from ppro.search.choice import AUTO, searches

    if not searches(config.dataset, recipe, given, reading):
        return False
    several = torchrun.is_one_of_several()
    large = reading is not None and isinstance(reading.graph, LargeGraph)
    if recipe != AUTO and (several or large):
        return False
    if several:
        raise SettingsError("--recipe auto: searches on one process; leave torchrun out")
    if large:
        raise SettingsError("--recipe auto: the graph stays on disk; name a recipe, such as plain")
    if resume:
        raise SettingsError(
            "--resume: auto would choose again; name the recipe that it kept, by --recipe"
        )
    return True


def searched(
    recipe: Recipe,
    graph: Graph,
    splits: Splits,
    given: Mapping[str, Any],
    *,
    folder: Path,
    budget: float,
    **limits: Any,
) -> FromSearch:
    """Search settings for a graph, show how it goes, and keep what was found as a recipe file.

    Args:
        folder: to keep it in.
        budget: seconds for search and training.
    """
    from ppro.search.choice import check_searchable, keep_recipe, search_recipe

    def tell(line: str) -> None:
        console.err.print(console.paragraph(f"  {line}"))

    check_searchable(recipe)
    size = f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges"
    console.err.print(f"looking for settings for {recipe.dataset}: {size}, budget {budget:.0f} s")
    found, choice, plan = search_recipe(
        recipe, graph, splits, given, budget=budget, tell=tell, **limits
    )
    _show(choice)
    kept = keep_recipe(found, folder)
    console.err.print(
        console.paragraph(f"{choice.reason}, in {choice.seconds:.0f} s; kept as {kept}")
    )
    notes = [note for note in (_runners_up(choice), plan.note) if note]
    facts = {SEARCH: choice.facts()}
    again = f"--recipe {shlex.quote(str(kept))} --runs {plan.runs}"
    return FromSearch(found, plan.runs, plan.until, facts, (found.note, *notes), again)


def _show(choice: Choice) -> None:
    """Print what was tried, the best first."""
    rows = choice.rows()
    if not rows:
        return
    head = ("validation", "tried", "epochs")
    console.err.print(console.aligned([head, *rows], right=(2,)))


def _runners_up(choice: Choice) -> str:
    """Return the next best in a sentence, the bare network at its best depth and one step too."""
    others = choice.rows()[1:]
    depths = [row for row in others if BARE_DEPTH.fullmatch(row[1])]
    wanted = {*others[:NEXT_BEST], *depths[:1], *(row for row in depths if row[1] == ONE_STEP)}
    told = [f"{row[1]} {row[0]} ({row[2]} epochs)" for row in others if row in wanted]
    behind = len(others) - len(told)
    rest = f"; {behind} others were behind" if behind else ""
    return f"runners-up by validation: {', '.join(told)}{rest}" if told else ""
