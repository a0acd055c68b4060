"""What mkdocs does to the pages.

A fence marked ``math`` becomes MathML, which browsers draw by themselves: no script, no network.
A line that is nothing but a link to a file outside ``docs`` becomes what it names, so that a page
never holds a copy: ``[`break_loss`](../src/ppro/nn/losses.py)`` the code of that function,
``[Table 1](../results/tables/homophilous.md)`` the text of that file.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

ROOT = Path(__file__).parent.parent
LONE_LINK = re.compile(r"^\[`?([^\]`\n]+)`?\]\(((?:\.\./)+[^)\s]+)\)$", re.M)
FENCE = "~~~~"

Definition = ast.FunctionDef | ast.ClassDef


def on_config(config: Any) -> Any:
    """Draw the fences marked ``math``."""
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {})
    fences["custom_fences"] = [{"name": "math", "class": "math", "format": equation}]
    return config


def equation(source: str, *_: Any, **__: Any) -> str:
    """LaTeX as a block of MathML."""
    return f'<div class="equation">{convert(source.strip(), display="block")}</div>'


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put what lone links name in their place."""
    folder = Path(page.file.abs_src_path).parent
    return LONE_LINK.sub(lambda link: included(link[1], folder / link[2]), markdown)


def included(name: str, path: Path) -> str:
    """What a lone link stands for.

    Raises:
        PluginError: the file is not there, or lacks the function or class named; the build fails.
    """
    path = path.resolve()
    if not path.is_file():
        raise PluginError(f"a page includes {path}, which is not there")
    text, title = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
    if path.suffix == ".md":
        return text.strip()
    if path.suffix != ".py":
        return f"{FENCE} text\n{text.rstrip()}\n{FENCE}"
    code = definition(text, name.split("."))
    if code is None:
        raise PluginError(f"a page includes {name} of {title}, which has no such name")
    return f'{FENCE} {{ .python title="{title}: {name}" }}\n{code}\n{FENCE}'


def definition(text: str, names: Sequence[str]) -> str | None:
    """The source of a function, class or method, decorators and all; None where it is missing."""
    scope: Sequence[ast.stmt] = ast.parse(text).body
    found: Definition | None = None
    for name in names:
        inside = [s for s in scope if isinstance(s, Definition) and s.name == name]
        if not inside:
            return None
        found = inside[0]
        scope = found.body
    assert found is not None
    first = min([found.lineno, *(d.lineno for d in found.decorator_list)])
    lines = text.splitlines()[first - 1 : found.end_lineno]
    return textwrap.dedent("\n".join(lines))
