"""Every command shows how it is called, with options that exist."""

from __future__ import annotations

import re
import shlex

import pytest
import typer.main

from ppro.cli import app

WITHOUT = {"list", "page", "export", "bench"}
"""What does without an example in its help."""


def commands() -> dict[str, typer.core.TyperCommand]:
    found: dict[str, typer.core.TyperCommand] = {}
    for name, command in typer.main.get_group(app).commands.items():
        inner = getattr(command, "commands", {"": command})
        found |= {f"{name} {part}".strip(): one for part, one in inner.items()}
    return found


def wanted() -> list[str]:
    return [name for name in commands() if not WITHOUT.intersection(name.split())]


@pytest.mark.parametrize("name", wanted())
def test_the_examples_of_a_command_use_what_it_has(name: str) -> None:
    command = commands()[name]
    known = {option for parameter in command.params for option in parameter.opts}
    examples = re.findall(rf"^ *(ppro {name}\b.*)$", command.help or "", re.M)
    assert examples, "no example"
    for example in examples:
        words = shlex.split(re.split(r" && | > ", example)[0])
        used = {word for word in words if word.startswith("--")}
        assert used <= known, example
