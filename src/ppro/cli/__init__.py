"""The command line: ``ppro train``, ``predict``, ``data`` and ``recipes``."""

from __future__ import annotations

import sys

import typer

from ppro.cli import console, data, predict, recipes, train
from ppro.errors import PProError

app = typer.Typer(
    name="ppro",
    help="Prioritized Propagation in Graph Neural Networks: every node its own number of "
    "propagation steps and its own priority in the loss.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("train")(train.train)
app.command("predict")(predict.predict)
app.add_typer(data.app, name="data")
app.add_typer(recipes.app, name="recipes")


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Show the version and exit."),
    debug: bool = typer.Option(False, "--debug", help="Show a traceback when something fails."),
) -> None:
    context.obj = {"debug": debug}
    if version:
        from importlib.metadata import version as installed

        console.out.print(f"ppro {installed('ppro')}")
        raise typer.Exit


def main() -> None:
    """Run the command line; an error a user can mend ends in one line and exit code 2."""
    try:
        app()
    except PProError as error:
        if "--debug" in sys.argv:
            raise
        fail(str(error), 2)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        text = f"unexpected {type(error).__name__}: {error}"
        fail(f"{text}; run again as 'ppro --debug …' and report the traceback", 1)


def fail(text: str, status: int) -> None:
    """Say what went wrong and exit."""
    print(f"error: {text}", file=sys.stderr)
    sys.exit(status)
