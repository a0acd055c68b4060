"""The command line: arguments in, text out, and no decisions of its own.

One module for each command: ``train`` with ``searching`` before it and ``afterwards``, ``tune``,
``predict``, ``report``, ``explain``, ``reproduce``, ``bench`` with ``bench_distributed``,
``bench_large`` and ``bench_scale``, ``data``, ``recipes`` and ``parts``. What they share is in
``console``, ``streams``, ``options``, ``method_options``, ``file_options``, ``tracking_options``,
``outcome`` and ``measured``. A command imports what it needs when it is called, so that help comes
without PyTorch.
"""

import errno
import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ppro.cli import (
    bench,
    console,
    data,
    explain,
    parts,
    predict,
    recipes,
    report,
    reproduce,
    train,
    tune,
)
from ppro.cli.streams import WarningLines, forgive, lost_output, visible
from ppro.errors import PProError, RankError
from ppro.parts.scripts import load_scripts

FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""What a system says where there is no room; it does not always say of which file."""


class _Group(TyperGroup):
    """Ends Ctrl-C with one line; typer itself would say no more than 'Aborted.'"""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            print(str(error) or "interrupted: nothing was saved", file=sys.stderr)
            raise typer.Exit(console.INTERRUPTED) from None


app = typer.Typer(
    name="ppro",
    help="Prioritized Propagation in Graph Neural Networks: every node its own number of "
    "propagation steps and its own priority in the loss.",
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("train")(train.train)
app.command("tune")(tune.tune)
app.command("predict")(predict.predict)
app.command("report")(report.report)
app.command("explain")(explain.explain)
app.command("reproduce")(reproduce.reproduce)
app.command("parts")(parts.parts)
app.add_typer(bench.app, name="bench")
app.add_typer(data.app, name="data")
app.add_typer(recipes.app, name="recipes")


def _show_version(wanted: bool) -> None:
    if wanted:
        from ppro.parts.version import VERSION

        console.out.print(f"ppro {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    load: Annotated[
        list[Path] | None,
        typer.Option(
            help="Python script to run first: the strategies, metrics, datasets … that it defines "
            "are known by their names. Repeat for more.",
            readable=False,
            show_default=False,
        ),
    ] = None,
    version: bool = typer.Option(
        False,
        "--version",
        help="Show the version and exit.",
        callback=_show_version,
        is_eager=True,
    ),
    debug: bool = typer.Option(False, "--debug", help="Show a traceback when something fails."),
) -> None:
    """Options before the command; ``main`` looks for ``--debug`` itself."""
    load_scripts(load or [])


def main() -> None:
    """Run the command line; an error a user can mend ends in one line and exit code 2."""
    console.begin()
    forgive()
    logging.lastResort = WarningLines(logging.WARNING)
    try:
        app(prog_name="ppro")
    except SystemExit as ended:
        _check_output(ended)
        raise
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        from ppro.runs.torchrun import leave, reports_errors

        text, status = _told(error)
        if reports_errors():
            print(f"error: {visible(text)}", file=sys.stderr)
        if isinstance(error, RankError):
            leave(status)
        sys.exit(status)


def _told(error: Exception) -> tuple[str, int]:
    """Return what to say of an error, and the exit status."""
    if isinstance(error, PProError):
        return str(error), 2
    if (told := _out_of_memory(error)) is not None:
        return told, 2
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}; make it accessible or name another place", 2
    if isinstance(error, OSError) and error.errno in FULL:
        return f"a file cannot be written ({error.strerror}); make room and run it again", 2
    text = " ".join(str(error).split())
    told = f"unexpected {type(error).__name__}: {text}"
    return f"{told}; run again as 'ppro --debug …' and report the traceback", 1


def _out_of_memory(error: Exception) -> str | None:
    """Return what to say where memory has run out, on the CPU or on the device; else None."""
    if "torch" not in sys.modules and not isinstance(error, MemoryError):
        return None
    import torch

    from ppro.training.room import REMEDY, out_of_memory

    if isinstance(error, torch.OutOfMemoryError):
        return f"out of memory on the device; {REMEDY}"
    return out_of_memory(error)


def _check_output(ended: SystemExit) -> None:
    """Tell where standard output was lost; that is an error unless the result is in a file."""
    if not ended.code and (reason := lost_output()):
        saved = console.saved
        told = "the result is saved" if saved else "send it elsewhere"
        line = f"standard output: cannot be written ({reason}); {told}"
        print(f"{'warning' if saved else 'error'}: {line}", file=sys.stderr)
        ended.code = 0 if saved else 2
