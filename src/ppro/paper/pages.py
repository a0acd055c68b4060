"""The pages of results: one that a summary opens, and one about the rounds of the recipes."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from ppro.data import PAPERS, dataset_info
from ppro.files import markdown_table
from ppro.paper import added, fresh, personal_tables, planted_tables, shipped
from ppro.paper.design import is_papers
from ppro.paper.render import LEGEND
from ppro.paper.rounds import FINALS, PLAYOFFS
from ppro.paper.statistics import LEVEL, mean_and_spread, standard_error
from ppro.paper.store import Store
from ppro.settings.recipes import PAPER_DESIGN, recipe_names, shipped_recipe

ROUNDS = ("recipes", FINALS.key, PLAYOFFS.key, "decisions", "rounds", "choices")
"""The sections about how recipes were found, which have a page of their own."""
ROUNDS_PAGE, SETTINGS_PAGE = "rounds.md", "settings.md"
SETTINGS = "settings"
"""The section that has a page to itself."""
NOTABLE = 2.0
"""Points by which the backbone must gain more than PPro to be worth a word."""
_STRATEGIES = {"none": "APPNP alone", "l2b": "L2B", "l2u": "L2U"}
_HOW = f"""\
Node classification on the paper's graphs. Every number is a mean over runs that differ in their
seed, and in their split too where splits are random. Settings were chosen by validation accuracy,
with as many configurations for every method; of recipes that validate nearly alike, by whether
nodes differ in their steps ([the decisions](rounds.md#the-decision-between-proposals)). Test labels
are read once, after training.

The table below has the shipped recipes of PPro, L2B and L2U, beside their backbone alone, which was
tuned in the same way. Its runs begin at seed {fresh.FIRST_SEED}, and no search has seen these seeds
and splits. Test accuracy in percent, mean ± standard deviation; *better* or *worse* stands where
the paired t-test tells a strategy from its backbone at a level of {LEVEL}, after Holm's correction
for all recipes. † marks what goes [beyond the paper](#the-shipped-recipes-on-fresh-seeds):
consistency, another network, controllers that compare. The last columns are the recipes `…-paper`,
of the paper's own design, and in brackets what the paper prints for it."""
_NOT = """\
- That these settings are the best: a recipe is the best of the configurations that were searched.
- That accuracies on random splits compare with those of another paper: its splits are others, and
  splits differ by points.
- That all graphs are sound: `cornell-legacy` and `chameleon` are as the paper has them, with known
  defects ([Table 6](#table-6-datasets)); the mended graphs stand beside them."""
_INTRODUCTION_OF_ROUNDS = """\
How the shipped recipes were found; what they reach is on the page [Results](results.md). For the
backbone alone, for L2B and for L2U: several searches, whose best settings have ten runs each; a
last round of the best of all searches and of settings near the first; a play-off between the best
of that round; searches that came later. What each of them proposes then trains on seeds that none
of them used. The best validation accuracy there becomes the recipe, but for settings whose nodes
differ in their steps, which are preferred where that costs little; it is measured on other seeds.
No round looks at a test node."""


def pages(texts: Mapping[str, str], store: Store, *, everything: bool) -> dict[str, str]:
    """Return the pages of rendered sections, by the names of their files.

    The first page has the name that the user gives, and stands here under "".

    Args:
        texts: of the sections, by name.
        everything: whether all sections are there; then a summary opens the first page, and the
            rounds of the recipes have a page of their own.
    """
    if not everything:
        return {"": "# Results\n\n" + LEGEND + "\n\n" + "\n".join(texts.values())}
    rounds = [texts[name] for name in ROUNDS if name in texts]
    others = [text for name, text in texts.items() if name not in (*ROUNDS, SETTINGS)]
    told = (
        f"How the recipes were found has a page of its own, [The rounds]({ROUNDS_PAGE}), and so "
        f"have [the settings behind every cell]({SETTINGS_PAGE}) of the tables."
    )
    opening = f"# Results\n\n{summary(store)}\n\n{told}\n\n## How to read the tables\n\n{LEGEND}"
    beginning = f"# The rounds of the recipes\n\n{_INTRODUCTION_OF_ROUNDS}\n\n{LEGEND}"
    return {
        "": f"{opening}\n\n" + "\n".join(others),
        ROUNDS_PAGE: f"{beginning}\n\n" + "\n".join(rounds),
        SETTINGS_PAGE: "# Settings behind the tables\n\n" + texts.get(SETTINGS, ""),
    }


def summary(store: Store) -> str:
    """Return what was measured, the recipes beside backbone and paper, and what to conclude."""
    measured = [
        name for name in PAPERS if all(fresh.reached(f"{name}-{s}", store) for s in _STRATEGIES)
    ]
    if not measured:
        return "## In short\n\nNot measured yet: run `ppro reproduce shipped`."
    head = ["graph", "runs", *_STRATEGIES.values()]
    head += [f"the paper's design: {title.split()[0]}" for title in _STRATEGIES.values()]
    table = markdown_table(head, [_row(dataset, store) for dataset in measured])
    parts = [
        "## In short",
        _HOW,
        table,
        "**What to conclude**",
        "\n".join(_conclusions(measured, store)),
        "**What not to conclude**",
        _NOT,
    ]
    return "\n\n".join(parts)


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


def _conclusions(measured: Sequence[str], store: Store) -> list[str]:
    lines = [_against_backbone(strategy, measured, store) for strategy in ("l2b", "l2u")]
    from_paper = {s: _from_paper(s, measured, store) for s in _STRATEGIES}
    lines += [_against_paper(s, found) for s, found in from_paper.items() if found]
    means = {
        s: fmean(away for away, _ in found.values()) for s, found in from_paper.items() if found
    }
    if len(means) == len(_STRATEGIES) and means["none"] > max(means["l2b"], means["l2u"]) + NOTABLE:
        lines.append(
            "- So most of the margin that the paper prints over APPNP is a matter of tuning: tuned "
            "like PPro, APPNP gains more on its printed number than PPro does."
        )
    lines += [_added(store), planted_tables.conclusion(store), personal_tables.in_short(store)]
    return [line for line in lines if line]


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
    return f"- {_STRATEGIES[strategy]} against its own backbone, equally tuned: {'; '.join(told)}."


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


def _from_paper(
    strategy: str, measured: Sequence[str], store: Store
) -> dict[str, tuple[float, float]]:
    """Return by how many points its design differs from the paper, on the graphs that it has."""
    found = {dataset: _of_design(dataset, strategy, store) for dataset in measured}
    return {dataset: one for dataset, one in found.items() if one is not None}


def _against_paper(strategy: str, found: Mapping[str, tuple[float, float]]) -> str:
    """Return how far we are from the numbers that the paper prints for a strategy."""
    lower = [
        dataset_info(dataset).title for dataset, (away, error) in found.items() if away < -2 * error
    ]
    worse = f"lower beyond two standard errors on {_listed(lower)}" if lower else "nowhere lower"
    mean = fmean(away for away, _ in found.values())
    return (
        f"- {_STRATEGIES[strategy]} of the paper's design against the paper: {mean:+.1f} points "
        f"on average over {len(found)} graphs, {worse}."
    )


def _added(store: Store) -> str:
    """Return what both controllers add to the backbone at its own settings."""
    found = added.gains(store).items()
    verdicts = [gain.verdict for (_, _, part), gain in found if part == "both"]
    if not verdicts:
        return ""
    better, worse = verdicts.count("better"), verdicts.count("worse")
    return (
        f"- The controllers put on the backbone's own recipe, all else equal: better in {better} "
        f"and worse in {worse} of {len(verdicts)} cases ([table](#what-the-controllers-add))."
    )


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
