"""From result files to pictures on disk and the Markdown that shows them."""

from __future__ import annotations

import shutil
from pathlib import Path

from ppro.files import whole_file, write_text
from ppro.paper.figures import style
from ppro.paper.figures.base import FigureSpec
from ppro.paper.store import Store

FOLDER = "figures"
"""Pictures lie in a folder of this name, below the results and beside a page."""


def render(spec: FigureSpec, store: Store) -> str:
    """Draw a figure into the results' folder of pictures; returns its Markdown for a page.

    Raises:
        RunError: there is no matplotlib, or a result file is damaged.
    """
    with style.look():
        drawing = spec.draw(store)
        if drawing is None:
            return f"## {spec.title}\n\nNot measured yet: run `ppro reproduce {spec.name}`.\n"
        folder = store.root / FOLDER
        style.save(drawing.figure, folder, spec.name)
    write_text(folder / f"{spec.name}.md", _text(spec, f"{spec.name}.png", drawing.text))
    return _text(spec, f"{FOLDER}/{spec.name}.png", drawing.text)


def _text(spec: FigureSpec, picture: str, text: str) -> str:
    return f"## {spec.title}\n\n![{spec.title}]({picture})\n\n{text}\n"


def copy_picture(spec: FigureSpec, store: Store, page: Path) -> None:
    """Put the picture where the Markdown of a page looks for it."""
    source = store.root / FOLDER / f"{spec.name}.png"
    if source.exists():
        with whole_file(page.parent / FOLDER / source.name) as part:
            shutil.copyfile(source, part)
