"""Options that several commands take, and what they mean."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from ppro.errors import SettingsError
from ppro.settings.limits import MOST_CORES


def shown(text: str, default: str | bool, **more: Any) -> Any:
    """Return an option that is None unless given.

    Args:
        text: its help.
        default: what the help shows as its default.
        more: as for ``typer.Option``.
    """
    return typer.Option(help=text, show_default=default, **more)


Options = Mapping[str, tuple[Any, Any]]
"""Parameters of a command by name: the option, and its default."""
Command = Callable[..., None]


def taking(
    argument: str, options: Options, made: Callable[..., Any], *, first: bool = False
) -> Callable[[Command], Command]:
    """Return a decorator that gives a command some options, of which it gets what is made.

    Args:
        argument: of the command, that gets it.
        made: makes it of the values of the options.
        first: whether help shows them before those of the command, not behind.
    """

    def decorated(command: Command) -> Command:
        own = signature(command, eval_str=True)
        kept = [p for p in own.parameters.values() if p.name != argument]
        kept = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in kept]
        more = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=option)
            for name, (option, default) in options.items()
        ]

        @wraps(command)
        def run(**values: Any) -> None:
            taken = made(**{name: values.pop(name) for name in options})
            command(**{argument: taken}, **values)

        everything = [*more, *kept] if first else [*kept, *more]
        run.__signature__ = own.replace(parameters=everything)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in everything}
        return run

    return decorated


# Paths are readable=False: our own check of them says more than typer's, in one line.
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
