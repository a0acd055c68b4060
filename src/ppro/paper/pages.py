"""The pages of results: answers and tables first, then pages of recipes, settings and p values."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from ppro.data import PAPERS, dataset_info
from ppro.files import markdown_table
from ppro.paper import (
    added,
    fresh,
    personal_tables,
    planted_tables,
    shipped,
    untuned_tables,
)
from ppro.paper.design import is_papers
from ppro.paper.render import LEGEND
from ppro.paper.rounds import FINALS, PLAYOFFS
from ppro.paper.statistics import LEVEL, mean_and_spread, standard_error
from ppro.paper.store import Store
from ppro.paper.untuned import DEFAULTS
from ppro.settings.recipes import PAPER_DESIGN, recipe_names, shipped_recipe

GROUPS: Mapping[str, tuple[str, ...]] = {
    "What PPro is worth": (
        *("planted", "planted-figure", "personal", "personal-figure", "untuned", "offers", "added"),
    ),
    "The paper's tables": (
        *("homophilous", "heterophilous", "backbones", "depth", "depth-figure", "l2p", "datasets"),
    ),
    "Other searches": ("beyond", "design", "actor"),
}
"""The sections of the first page in their order; those that are not named follow."""
FIGURES = "The paper's figures"
"""The group of all sections that no other group names: figures without a table."""
OWN_PAGES: Mapping[str, tuple[str, ...]] = {
    "rounds.md": ("shipped", "recipes", FINALS.key, PLAYOFFS.key, "decisions", "rounds", "choices"),
    "settings.md": ("settings",),
    "comparisons.md": ("comparisons",),
}
"""The sections that are on other pages: about the recipes, and what stands behind the tables."""
NOTABLE = 2.0
"""Points by which the backbone must gain more than PPro to be worth a word."""
_STRATEGIES = {"none": "APPNP alone", "l2b": "L2B", "l2u": "L2U"}
_HOW = """\
Node classification, test accuracy in percent. Settings were chosen on validation nodes, with as
many configurations for every method; test labels are read once, after training. Every number is a
mean over runs that differ in their seed, and in their split too where splits are random."""
_OF_RECIPES = f"""\
The recipes that come with the package, L2B and L2U, beside their backbone alone, tuned in the same
way; of recipes that validate nearly alike one was taken whose nodes differ in their steps ([the
decisions](rounds.md#the-decision-between-proposals)). The runs begin at seed {fresh.FIRST_SEED},
and no search has seen these seeds and splits. Mean ± standard deviation; *better* or *worse* stands
where the paired t-test tells a strategy from its backbone at a level of {LEVEL}, after Holm's
correction for all recipes. † marks what goes [beyond the
paper](rounds.md#the-shipped-recipes-on-fresh-seeds): consistency, another network, controllers that
compare. The last columns are the recipes `…-paper`, of the paper's own design, and in brackets what
the paper prints for it."""
_NOT = """\
- That these settings are the best: a recipe is the best of the configurations that were searched.
- That accuracies on random splits compare with those of another paper: its splits are others, and
  splits differ by points.
- That all graphs are sound: `cornell-legacy` and `chameleon` are as the paper has them, with known
  defects ([Table 6](#table-6-datasets)); the mended graphs stand beside them."""
_BEGINNINGS = {
    "rounds.md": """\
# The rounds of the recipes

What the shipped recipes reach, with all their options, and how they were found; the page
[Results](results.md) has the answers in short. For the backbone alone, for L2B and for L2U there
were several searches, whose best settings have ten runs each; a last round of the best of all
searches and of settings near the first; a play-off between the best of that round; searches that
came later. What each of them proposes then trains on seeds that none of them used. The best
validation accuracy there becomes the recipe, but for settings whose nodes differ in their steps,
which are preferred where that costs little; it is measured on other seeds. No round looks at a test
node.

"""
    + LEGEND,
    "settings.md": """\
# Settings behind the tables

To train a cell of a table of [Results](results.md) again, or to see what a search preferred: look
up its table, method and graph here, and give the settings to `ppro train` by `--set`.""",
    "comparisons.md": """\
# Comparisons behind the verdicts

To see how sure a verdict of [Results](results.md) is: its difference, standard error and p.""",
}
"""What the other pages say first."""


def pages(texts: Mapping[str, str], store: Store, *, everything: bool) -> dict[str, str]:
    """Return the pages of rendered sections, by the names of their files.

    The first page has the name that the user gives, and stands here under "".

    Args:
        texts: of the sections, by name.
        everything: whether all sections are there; then a summary opens the first page, and some
            sections have pages of their own.
    """
    if not everything:
        return {"": "# Results\n\n" + LEGEND + "\n\n" + "\n".join(texts.values())}
    elsewhere = {name for names in OWN_PAGES.values() for name in names}
    named = {name for names in GROUPS.values() for name in names}
    others = tuple(name for name in texts if name not in named | elsewhere)
    groups = {**GROUPS, FIGURES: others}
    first = [texts[name] for names in groups.values() for name in names if name in texts]
    opening = f"# Results\n\n{summary(store)}\n\n## Contents\n\n{_contents(groups, texts)}"
    found = {"": "\n".join([f"{opening}\n\n## How to read the tables\n\n{LEGEND}\n", *first])}
    for page, names in OWN_PAGES.items():
        own = [texts[name] for name in names if name in texts]
        found[page] = "\n".join([f"{_BEGINNINGS[page]}\n", *own])
    return found


def _contents(groups: Mapping[str, Sequence[str]], texts: Mapping[str, str]) -> str:
    """Return a list of all sections, each a link, and of the other pages."""
    told = [
        f"- {title}: " + ", ".join(_link(texts[name]) for name in names if name in texts)
        for title, names in groups.items()
    ]
    told.append(
        "- On other pages: [the recipes, and how they were found](rounds.md), [the settings behind "
        "every cell](settings.md) and [every comparison](comparisons.md) of the tables"
    )
    return "\n".join(told)


def _link(text: str) -> str:
    """Return a link to a section, as the site names the place of its title."""
    title = text.partition("\n")[0].removeprefix("## ")
    return f"[{title}](#{slugify(title)})"


def slugify(title: str) -> str:
    """Return the name of a title's place on a page: ASCII letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def summary(store: Store) -> str:
    """Return the answers, the recipes beside backbone and paper, and what not to conclude."""
    measured = [
        name for name in PAPERS if all(fresh.reached(f"{name}-{s}", store) for s in _STRATEGIES)
    ]
    if not measured:
        return "## In short\n\nNot measured yet: run `ppro reproduce shipped`."
    answers = [row for row in _answers(measured, store) if row[1]]
    head = ["graph", "runs", *_STRATEGIES.values()]
    head += [f"the paper's design: {title.split()[0]}" for title in _STRATEGIES.values()]
    parts = [
        "## In short",
        _HOW,
        markdown_table(["question", "answer", "more"], answers),
        "**What not to conclude**",
        _NOT,
        "## The recipes beside their backbone and the paper",
        _OF_RECIPES,
        markdown_table(head, [_row(dataset, store) for dataset in measured]),
    ]
    return "\n\n".join(parts)


def _answers(measured: Sequence[str], store: Store) -> list[tuple[str, str, str]]:
    """Return what a reader asks first: the question, its answer or "", and where more stands."""
    plain = [untuned_tables.conclusion(untuned_tables.rows(store), way) for way in DEFAULTS]
    return [
        (
            "Where nodes need different depths, do they find them?",
            planted_tables.conclusion(store),
            "[Planted depths](#planted-depths)",
        ),
        (
            "Do personal steps beat the best fixed depth on graphs that were not built for them?",
            personal_tables.in_short(store),
            "[Personal steps](#personal-steps-against-the-best-fixed-depth)",
        ),
        (
            "What does one get who sets nothing?",
            " ".join(told for told in plain if told),
            "[Without tuning](#without-tuning)",
        ),
        (
            "Are the recipes of a strategy better than those of its backbone, tuned alike?",
            " ".join(_against_backbone(strategy, measured, store) for strategy in ("l2b", "l2u")),
            "[Recipes](#the-recipes-beside-their-backbone-and-the-paper)",
        ),
        (
            "Do controllers help on the backbone's own recipe, all else equal?",
            _added(store),
            "[What the controllers add](#what-the-controllers-add)",
        ),
        (
            "Do the paper's numbers come out with its own design?",
            _against_paper(measured, store),
            "[Tables 1](#table-1-homophilous-graphs), [2](#table-2-heterophilous-graphs)",
        ),
    ]


def _row(dataset: str, store: Store) -> list[str]:
    ours, papers, runs = list[str](), list[str](), 0
    for strategy in _STRATEGIES:
        recipe = shipped_recipe(f"{dataset}-{strategy}")
        record = fresh.reached(f"{dataset}-{strategy}", store)
        assert record is not None
        runs, compared = record["runs"], _verdict(dataset, strategy, store)
        told = "" if is_papers(recipe.settings) else " †"
        told += f", *{compared}*" if compared in ("better", "worse") else ""
        ours.append(mean_and_spread(record) + told)
        papers.append(_beside_paper(f"{dataset}-{strategy}{PAPER_DESIGN}", store))
    return [dataset_info(dataset).title, str(runs), *ours, *papers]


def _beside_paper(name: str, store: Store) -> str:
    """Return what a recipe of the paper's design reaches, and the paper's number in brackets."""
    recipe = shipped_recipe(name) if name in recipe_names() else None
    if recipe is None:
        return "–"
    record, number = fresh.reached(name, store), shipped.papers_number(recipe)
    return ("not measured yet" if record is None else mean_and_spread(record)) + number


def _verdict(dataset: str, strategy: str, store: Store) -> str:
    """Return what the tests say of a strategy's recipe against that of the backbone."""
    found = fresh.verdicts(shipped.names(), store).get(f"{dataset}-{strategy}")
    return "" if found is None else found.verdict


def _against_backbone(strategy: str, measured: Sequence[str], store: Store) -> str:
    """Return on which graphs a strategy beats its backbone, and on which it loses."""
    found = {"better": list[str](), "worse": list[str]()}
    for dataset in measured:
        compared = _verdict(dataset, strategy, store)
        if compared in found:
            found[compared].append(dataset_info(dataset).title)
    ties = len(measured) - sum(map(len, found.values()))
    told = [f"{verdict} on {_listed(graphs)}" for verdict, graphs in found.items() if graphs]
    told.append(f"no different beyond noise on {ties} of {len(measured)} graphs")
    return f"{_STRATEGIES[strategy]}: {', '.join(told)}."


def _of_design(dataset: str, strategy: str, store: Store) -> tuple[float, float] | None:
    """Return by how much the paper's design differs from its number, and our standard error.

    Returns None where the paper has no number, or no recipe of its design has been measured.
    """
    for name in (f"{dataset}-{strategy}{PAPER_DESIGN}", f"{dataset}-{strategy}"):
        recipe = shipped_recipe(name) if name in recipe_names() else None
        record = None if recipe is None else fresh.reached(name, store)
        if recipe is None or record is None or recipe.paper is None:
            continue
        if is_papers(recipe.settings):
            return record["test_mean"] - recipe.paper.accuracy, standard_error(record["test"])
    return None


def _against_paper(measured: Sequence[str], store: Store) -> str:
    """Return how far we are from the numbers that the paper prints, and whose margin that is."""
    means, told = dict[str, float](), list[str]()
    for strategy, title in _STRATEGIES.items():
        all_of_it = {dataset: _of_design(dataset, strategy, store) for dataset in measured}
        found = {dataset: one for dataset, one in all_of_it.items() if one is not None}
        if not found:
            continue
        means[strategy] = fmean(away for away, _ in found.values())
        lower = [dataset_info(d).title for d, (away, error) in found.items() if away < -2 * error]
        worse = f"lower beyond two standard errors on {_listed(lower)}" if lower else "never lower"
        mean = f"{means[strategy]:+.1f} points on average over {len(found)} graphs"
        told.append(f"{title}: {mean}, {worse}.")
    if len(means) == len(_STRATEGIES) and means["none"] > max(means["l2b"], means["l2u"]) + NOTABLE:
        told.append(
            "So most of the margin that the paper prints over APPNP is a matter of tuning: tuned "
            "like PPro, APPNP gains more on its printed number than PPro does."
        )
    return " ".join(told)


def _added(store: Store) -> str:
    """Return what both controllers add to the backbone at its own settings."""
    found = added.gains(store).items()
    verdicts = [gain.verdict for (_, _, part), gain in found if part == "both"]
    if not verdicts:
        return ""
    better, worse = verdicts.count("better"), verdicts.count("worse")
    return f"Better in {better} and worse in {worse} of {len(verdicts)} cases."


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
