"""The pages of results: one that a summary opens, and one about the rounds of the recipes."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from ppro.data import PAPERS, dataset_info
from ppro.files import markdown_table
from ppro.paper import added, fresh, personal_tables, planted_tables
from ppro.paper.render import LEGEND
from ppro.paper.rounds import FINALS, PLAYOFFS
from ppro.paper.statistics import mean_and_spread, standard_error
from ppro.paper.store import Store
from ppro.paper.tables import EIGHT
from ppro.settings.recipes import shipped_recipe

ROUNDS = ("recipes", FINALS.key, PLAYOFFS.key, "rounds", "choices")
"""The sections about how recipes were found, which have a page of their own."""
ROUNDS_PAGE = "rounds.md"
NOTABLE = 2.0
"""Points by which the backbone must gain more than PPro to be worth a word."""
_STRATEGIES = {"none": "APPNP alone", "l2b": "L2B", "l2u": "L2U"}
_HOW = f"""\
Node classification on the paper's graphs. Every number is a mean over runs that differ in their
seed, and in their split too where splits are random. Settings were chosen by validation accuracy
alone, with as many configurations for every method; test labels are read once, after training.

The table below has the shipped recipes of PPro, L2B and L2U, beside their backbone APPNP, which was
tuned in the same way. Its runs begin at seed {fresh.FIRST_SEED}, and no search has seen these seeds
and splits. Test accuracy in percent, mean ± standard deviation; *better* or *worse* stands where a
strategy differs from the backbone by more than two standard errors of the paired difference. The
last columns are what the paper prints."""
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
of that round. What each of them proposes then trains on seeds that none of them used, and the best
validation accuracy there becomes the recipe. No round looks at a test node."""


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
    others = [text for name, text in texts.items() if name not in ROUNDS]
    told = f"How the recipes were found has a page of its own: [The rounds]({ROUNDS_PAGE})."
    opening = f"# Results\n\n{summary(store)}\n\n{told}\n\n## How to read the tables\n\n{LEGEND}"
    beginning = f"# The rounds of the recipes\n\n{_INTRODUCTION_OF_ROUNDS}\n\n{LEGEND}"
    return {
        "": f"{opening}\n\n" + "\n".join(others),
        ROUNDS_PAGE: f"{beginning}\n\n" + "\n".join(rounds),
    }


def summary(store: Store) -> str:
    """Return what was measured, the recipes beside backbone and paper, and what to conclude."""
    measured = [
        name for name in PAPERS if all(fresh.reached(f"{name}-{s}", store) for s in _STRATEGIES)
    ]
    if not measured:
        return "## In short\n\nNot measured yet: run `ppro reproduce shipped`."
    head = ["graph", "runs", *_STRATEGIES.values()]
    head += [f"paper: {title.split()[0]}" for title in _STRATEGIES.values()]
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
        runs, compared = record["runs"], fresh.comparison(dataset, strategy, store)
        verdict = "" if compared is None else compared.verdict
        told = f", *{verdict}*" if verdict in ("better", "worse") else ""
        ours.append(mean_and_spread(record) + told)
        papers.append("–" if recipe.paper is None else f"{recipe.paper.accuracy:.1f}")
    return [dataset_info(dataset).title, str(runs), *ours, *papers]


def _conclusions(measured: Sequence[str], store: Store) -> list[str]:
    lines = [_against_backbone(strategy, measured, store) for strategy in ("l2b", "l2u")]
    from_paper = {s: _from_paper(s, measured, store) for s in _STRATEGIES}
    lines += [_against_paper(s, found, store) for s, found in from_paper.items() if found]
    means = {s: fmean(found.values()) for s, found in from_paper.items() if found}
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
        compared = fresh.comparison(dataset, strategy, store)
        if compared is not None and compared.verdict in found:
            found[compared.verdict].append(dataset_info(dataset).title)
    ties = len(measured) - sum(map(len, found.values()))
    told = [f"{verdict} on {_listed(graphs)}" for verdict, graphs in found.items() if graphs]
    told.append(f"no different beyond noise on {ties} of {len(measured)} graphs")
    return f"- {_STRATEGIES[strategy]} against its own backbone, equally tuned: {'; '.join(told)}."


def _from_paper(strategy: str, measured: Sequence[str], store: Store) -> dict[str, float]:
    """Return by how many points we differ from the paper, on the graphs that it has."""
    found = {}
    for dataset in measured:
        recipe = shipped_recipe(f"{dataset}-{strategy}")
        record = fresh.reached(f"{dataset}-{strategy}", store)
        if recipe.paper is not None and record is not None:
            found[dataset] = record["test_mean"] - recipe.paper.accuracy
    return found


def _against_paper(strategy: str, differences: Mapping[str, float], store: Store) -> str:
    """Return how far we are from the numbers that the paper prints for a strategy."""
    lower = []
    for dataset, difference in differences.items():
        record = fresh.reached(f"{dataset}-{strategy}", store)
        if record is not None and difference < -2 * standard_error(record["test"]):
            lower.append(dataset_info(dataset).title)
    worse = f"lower beyond two standard errors on {_listed(lower)}" if lower else "nowhere lower"
    return (
        f"- {_STRATEGIES[strategy]} against the paper: {fmean(differences.values()):+.1f} points "
        f"on average over {len(differences)} graphs, {worse}."
    )


def _added(store: Store) -> str:
    """Return what both controllers add to the backbone at its own settings."""
    found = [added.gain(d, s, "both", store) for d in EIGHT for s in ("l2b", "l2u")]
    verdicts = [gain.verdict for gain in found if gain is not None]
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
