"""All that ``ppro reproduce`` knows by a name: what experiments it needs, and how it is shown."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ppro.paper import (
    added,
    choice,
    chosen,
    comparisons,
    datasets,
    equal_offers,
    personal,
    personal_tables,
    planted,
    planted_tables,
    rounds_tables,
    shipped,
    untuned,
    untuned_tables,
)
from ppro.paper.cells import Cell, experiments, searches
from ppro.paper.experiment import Plan, Work
from ppro.paper.figures import FIGURES, FigureSpec
from ppro.paper.figures.render import render
from ppro.paper.panels import Table
from ppro.paper.render import latex, markdown
from ppro.paper.rounds import FINALS, PLAYOFFS
from ppro.paper.store import Store
from ppro.paper.tables import TABLES

Words = tuple[set[str], set[str], set[str], set[int]]
"""Datasets, splits, methods and depths; an empty set stands for all."""


@dataclass(frozen=True)
class Section:
    """A table or a figure.

    Args:
        works: the experiments behind it.
        text: Markdown, from result files alone. That of a figure draws the picture as well.
        latex: the table for a paper, where it has one.
        stage: sections of one stage are run together, those of an earlier one first.
    """

    name: str
    works: Callable[[Plan], Sequence[Work]]
    text: Callable[[Store], str]
    latex: Callable[[Store], str] | None = None
    stage: int = 0

    def files(self, text: str, store: Store) -> dict[str, str]:
        """Return what is kept of a table and its text, by files below the folder of results."""
        if self.name in FIGURES:
            return {}
        found = {f"tables/{self.name}.md": text}
        if self.latex is not None:
            found[f"tables/{self.name}.tex"] = self.latex(store)
        return found


def _of_cells(cells: Sequence[Cell], plan: Plan) -> list[Work]:
    return [*searches(cells, plan), *experiments(cells, plan)]


def _of_table(make: Callable[[], Table], plan: Plan) -> list[Work]:
    return _of_cells(make().cells(), plan)


def _of_figure(spec: FigureSpec, plan: Plan) -> list[Work]:
    shown = [] if spec.table is None else _of_cells(spec.table().cells(), plan)
    others = [] if spec.works is None else spec.works(plan)
    return [*shown, *experiments(spec.cells(), plan, without_search=True), *others]


def _table_text(make: Callable[[], Table], store: Store) -> str:
    return markdown(make(), store)


def _table_latex(make: Callable[[], Table], store: Store) -> str:
    return latex(make(), store)


def _tables() -> Iterator[Section]:
    for name, make in TABLES.items():
        text, tex = partial(_table_text, make), partial(_table_latex, make)
        yield Section(name, partial(_of_table, make), text, tex)


def _others() -> Iterator[Section]:
    """Yield the tables about recipes, and that of the datasets; each rests on those before it."""
    yield Section(
        FINALS.key, FINALS.experiments, partial(rounds_tables.round_markdown, FINALS), stage=1
    )
    yield Section(
        PLAYOFFS.key, PLAYOFFS.experiments, partial(rounds_tables.round_markdown, PLAYOFFS), stage=2
    )
    decided = choice.decisions, rounds_tables.decision_markdown
    yield Section("decisions", *decided, stage=3)
    yield Section("shipped", shipped.experiments, shipped.markdown, stage=3)
    yield Section("rounds", shipped.with_proposals, rounds_tables.markdown, stage=3)
    yield Section("added", added.experiments, added.markdown, stage=4)
    yield Section("offers", equal_offers.experiments, equal_offers.markdown, stage=5)
    yield Section("planted", planted.experiments, planted_tables.markdown, stage=5)
    yield Section("personal", personal.experiments, personal_tables.markdown, stage=5)
    yield Section("untuned", untuned.experiments, untuned_tables.markdown, stage=5)
    yield Section("settings", lambda plan: [], chosen.markdown, stage=6)
    yield Section("comparisons", lambda plan: [], comparisons.markdown, stage=6)
    yield Section(
        "datasets", lambda plan: [datasets.DatasetSizes()], datasets.kept_markdown, stage=6
    )


def _figures() -> Iterator[Section]:
    for name, spec in FIGURES.items():
        yield Section(name, partial(_of_figure, spec), partial(render, spec), stage=7)


SECTIONS: dict[str, Section] = {
    section.name: section for section in (*_tables(), *_others(), *_figures())
}


def stages(wanted: Sequence[str]) -> list[list[Section]]:
    """Return the wanted sections, those that are run together side by side."""
    chosen = [SECTIONS[name] for name in wanted]
    return [
        [section for section in chosen if section.stage == stage]
        for stage in sorted({section.stage for section in chosen})
    ]


def works_of(sections: Sequence[Section], plan: Plan, words: Words) -> list[Work]:
    """Return the experiments behind sections that are about the given words."""
    return [work for section in sections for work in section.works(plan) if _is_about(work, words)]


def _is_about(work: Work, words: Words) -> bool:
    parts = work.dataset, work.split, work.method, work.steps
    asked: tuple[Collection[str | int | None], ...] = words
    return all(
        not named or not part or part in named for part, named in zip(parts, asked, strict=True)
    )
