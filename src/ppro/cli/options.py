"""Options that several commands take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import torch
import typer

from ppro.errors import SettingsError

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
        help="CPU threads (default: chosen from the work, or OMP_NUM_THREADS).",
        show_default=False,
    ),
]


GraphOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        help="Option of a generated graph: key=value, as in csbm --option homophily=0.2.",
        show_default=False,
    ),
]


def graph_options(words: list[str] | None) -> dict[str, float]:
    """Options of a generated graph from words ``key=value``.

    Raises:
        SettingsError: a word is not of that form or its value not a number.
    """
    options: dict[str, float] = {}
    for word in words or []:
        key, _, value = word.partition("=")
        try:
            options[key.strip()] = float(value)
        except ValueError:
            raise SettingsError(
                f"--option {word}: expected key=number, for example --option homophily=0.2"
            ) from None
    return options


def find_device(name: str) -> torch.device:
    """The device a user named.

    Raises:
        SettingsError: there is no such device.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if not re.fullmatch(r"cpu|cuda(:\d+)?", name):
        raise SettingsError(f"--device {name}: unknown; use auto, cpu, cuda or cuda:N")
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise SettingsError(
            f"--device {name}: this machine has {torch.cuda.device_count()} CUDA devices; "
            "use --device cpu"
        )
    return device
