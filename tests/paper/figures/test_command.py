"""Figures through the command, and on disk."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ppro.cli import console, main
from ppro.errors import RunError
from ppro.paper import pool
from ppro.paper.figures import FIGURES
from ppro.paper.figures.ablation import ABLATION, cells
from ppro.paper.figures.render import render
from ppro.paper.sections import SECTIONS
from ppro.paper.store import Store
from tests.paper.figures.support import write_accuracies


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "results")
    for cell in cells():
        write_accuracies(made, cell, [80.0, 81.0])
    return made


def test_every_figure_has_a_command() -> None:
    assert set(FIGURES) < set(SECTIONS)


def test_pictures_are_written_and_are_the_same_again(store: Store) -> None:
    pytest.importorskip("matplotlib")
    text = render(ABLATION, store)
    assert "(figures/ablation.png)" in text
    folder = store.root / "figures"
    assert sorted(path.name for path in folder.iterdir()) == [
        "ablation.md",
        "ablation.pdf",
        "ablation.png",
    ]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    render(ABLATION, store)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert before["ablation.png"].startswith(b"\x89PNG")
    assert before["ablation.pdf"].startswith(b"%PDF")


def test_without_matplotlib_the_remedy_is_told(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RunError, match=r"pip install 'ppro\[plots\]'"):
        render(ABLATION, store)


def test_a_page_finds_its_pictures(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "docs" / "page.md"
    words = ["ablation", "--render-only", "--results", str(store.root), "--page", str(page)]
    monkeypatch.setattr(sys, "argv", ["ppro", "reproduce", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert "| Cora | L2B | 80.5 ± 0.7 |" in capsys.readouterr().out
    assert "(figures/ablation.png)" in page.read_text()
    assert (page.parent / "figures" / "ablation.png").is_file()


def test_what_is_not_measured_is_told(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for spec in FIGURES.values():
        assert f"run `ppro reproduce {spec.name}`" in render(spec, Store(tmp_path))


def test_ctrl_c_tells_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "run_missing", stopped)
    words = ["ablation", "--quick", "--results", str(tmp_path / "kept")]
    monkeypatch.setattr(sys, "argv", ["ppro", "reproduce", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == console.INTERRUPTED
    told = capsys.readouterr().err
    assert f"kept in {tmp_path / 'kept'}; the same command goes on" in told
    assert "nothing was saved" not in told
