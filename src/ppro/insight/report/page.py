"""One HTML file that holds everything: styles, scripts, data, and the plotting library."""

import base64
import hashlib
import re
from importlib import resources
from typing import Any

from ppro.errors import SettingsError
from ppro.files import dump_json
from ppro.insight.explain import ExplainedRun
from ppro.insight.report import figures
from ppro.insight.report.curves import training_curves
from ppro.insight.report.explorer import explorer_data
from ppro.insight.report.measured import measured_data
from ppro.insight.report.relations import relations
from ppro.insight.report.summary import summary_data

_PARTS = ("base", "theme", "summary", "data", "story", "search", "explorer", "main")
"""Parts of the page's own script, in the order in which they build on each other."""

OPENING = '(typeof self !== "undefined" ? self : this, () => {'
CLOSING = "return Plotly;\n}));"
"""How the function around plotly.js begins and ends."""


def report_data(run: ExplainedRun) -> dict[str, Any]:
    """Return all that the page shows, as JSON values."""
    told, priorities = run.explanation, run.explanation.priorities
    # A graph that came after the training has none.
    has_test = bool(figures.tested(run).any())
    charts: dict[str, Any] = {
        "curves": training_curves(run),
        "confusion": figures.confusion(run),
        "steps": figures.steps_histogram(run) if told.chosen else None,
        "accuracyByStep": figures.accuracy_by_step(run) if told.last_step and has_test else None,
        "priorities": None,
        "relations": relations(run),
    }
    if priorities is not None:
        charts["priorities"] = figures.priorities_histogram(priorities.double().numpy())
    return {
        "summary": summary_data(run),
        "measured": measured_data(run),
        "charts": charts,
        "explorer": explorer_data(run),
    }


def render(data: dict[str, Any]) -> str:
    """Return the page for this data."""
    scripts = [own_script(), plotting_library()]
    parts = {
        "POLICY": content_policy(scripts),
        "STYLE": _asset("style.css"),
        "SCRIPT": scripts[0],
        "LIBRARY": scripts[1],
        "DATA": safe_json(data),
    }
    return re.sub(r"%([A-Z]+)%", lambda mark: parts[mark[1]], _asset("page.html"))


def safe_json(data: Any) -> str:
    """Return JSON in ASCII that cannot end the script element it stands in."""
    text = dump_json(data)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def plotting_library() -> str:
    """Return the source of plotly.js, from the Python package.

    Raises:
        SettingsError: plotly is not installed.
    """
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise SettingsError(
            "a report needs plotly, which is not installed; run: pip install 'ppro[report]'"
        ) from None
    return read_once(str(get_plotlyjs()))


def read_once(library: str) -> str:
    """Return the library with the one function that holds all of it, if any, in parentheses.

    A browser takes such a function for one that is called at once, and compiles it straight away.
    Otherwise it skims megabytes first and reads them again at the call.
    """
    library = library.rstrip()
    if library.count(OPENING) != 1 or not library.endswith(CLOSING):
        return library
    opened = library.removesuffix(CLOSING).replace(OPENING, OPENING.replace("()", "(()"))
    return opened + CLOSING.replace("}", "})")


def own_script() -> str:
    """Return the page's own script: its parts in one scope of their own."""
    parts = "\n".join(_asset(f"{name}.js") for name in _PARTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


def content_policy(scripts: list[str]) -> str:
    """Return the policy that nothing is loaded and only the scripts of this file run.

    Plotly compiles its WebGL programs with ``new Function``, which counts as eval; no text of the
    user is part of them.
    """
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes} 'unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _asset(name: str) -> str:
    return (resources.files("ppro.insight.report") / "assets" / name).read_text(encoding="utf-8")
