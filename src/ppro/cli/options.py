"""Options that several commands take, and what they mean."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ppro.data.names import GEOM_GCN, PUBLIC, RANDOM
from ppro.errors import SettingsError
from ppro.parts import BACKBONES, METRICS, RIVALS, STRATEGIES
from ppro.settings.limits import MOST_CORES


def shown(text: str, default: str | bool, **more: Any) -> Any:
    """Return an option that is None unless given.

    Args:
        text: its help.
        default: what the help shows as its default.
        more: as for ``typer.Option``.
    """
    return typer.Option(help=text, show_default=default, **more)


# Paths are readable=False: our own check of them says more than typer's, in one line.
Model = Annotated[
    str | None,
    typer.Option("--model", help=f"ppro, or a rival: {', '.join(RIVALS)}.", show_default="ppro"),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        help=f"How nodes choose their step: {', '.join(STRATEGIES)}; none is the bare backbone.",
        show_default="l2b",
    ),
]
Backbone = Annotated[
    str | None,
    typer.Option("--backbone", help=f"{', '.join(BACKBONES)}.", show_default="appnp"),
]
MetricName = Annotated[
    str | None,
    typer.Option(
        "--metric",
        help="What selects epochs, settings and the best run on validation nodes: "
        f"{', '.join(METRICS)}.",
        show_default="the graph's, mostly accuracy",
    ),
]
ClassWeights = Annotated[
    list[str] | None,
    typer.Option(
        "--class-weight",
        help="What classes count in the losses: balanced, or CLASS=WEIGHT, repeated.",
        show_default="all the same",
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        help=f"{PUBLIC}, {RANDOM}, {GEOM_GCN}, or N-per-class: N training nodes of each class.",
        show_default="the recipe's",
    ),
]
DataRoot = Annotated[
    Path | None,
    typer.Option(
        "--data-root",
        readable=False,
        help="Folder with the raw files of the benchmark graphs (default: the variable PPRO_DATA).",
        show_default=False,
    ),
]
Offline = Annotated[bool, typer.Option("--offline", help="Never download anything.")]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:N.")]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        max=MOST_CORES,
        help="CPU threads (default: chosen from the work, or OMP_NUM_THREADS).",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="End with one JSON object on stdout.")]
GraphOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        help="Of a generated graph: key=value, as in csbm --option homophily=0.2. Of any graph: "
        "noise=S, a share S of its nodes gets random edges.",
        show_default=False,
    ),
]
RunFolder = Annotated[
    Path, typer.Argument(help="A folder that 'ppro train' wrote.", readable=False)
]
RunIndex = Annotated[
    int | None,
    typer.Option("--run", min=0, help="Which of the runs.", show_default="best validation score"),
]
Report = Annotated[
    Path | None, typer.Option("--out", help="JSON file to write.", show_default="none")
]


def graph_options(words: list[str] | None) -> dict[str, str]:
    """Return options of a graph from words ``key=value``, the values as they were typed.

    Raises:
        SettingsError: a word is not of that form.
    """
    options: dict[str, str] = {}
    for word in words or []:
        key, separator, value = word.partition("=")
        if not separator or not value.strip():
            raise SettingsError(
                f"--option {word}: expected key=value, for example --option homophily=0.2"
            )
        options[key.strip()] = value.strip()
    return options
