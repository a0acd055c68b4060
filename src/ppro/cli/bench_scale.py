"""``ppro bench scale``: what the cost model foretells for graphs of any size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ppro.cli import console
from ppro.errors import RunError


def scale(
    measured: Annotated[
        Path, typer.Option(help="What 'ppro bench large' measured.", readable=False)
    ] = Path("results/bench/large.json"),
    ranks: Annotated[
        Path,
        typer.Option(
            help="What 'ppro bench distributed' measured; may be missing.", readable=False
        ),
    ] = Path("results/bench/distributed.json"),
    out: Annotated[
        Path | None,
        typer.Option("--page", help="Markdown page to write.", show_default="the terminal"),
    ] = None,
) -> None:
    """Show memory, network and time of large graphs on one and on many machines.

    The model is checked against the measurements, which also tell how fast the machine is.
    """
    from ppro.paper.bench.scale_page import page

    if not measured.exists():
        raise RunError(f"{measured}: missing; run 'ppro bench large'")
    found, of_ranks = _read(measured), _read(ranks) if ranks.exists() else None
    try:
        text = page(found, of_ranks)
    except (KeyError, TypeError, AttributeError) as error:
        raise RunError(f"{measured} or {ranks}: not a report ({error!r}); measure again") from None
    if out is None:
        console.out.print(text)
        return
    console.write(out, text, "--page")
    console.out.print(f"written to {out}")


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: cannot be read as a report: {error}") from None
