from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ppro.nn.rivals import isomap
from ppro.nn.rivals.isomap import components, places
from tests.support import both_directions, connected_edges


def path(nodes: int, first: int = 0) -> NDArray[np.int64]:
    chain = ((first + i, first + i + 1) for i in range(nodes - 1))
    return both_directions(chain).numpy()


def test_a_path_is_a_line_of_unit_steps() -> None:
    where = places(path(6), 6)
    np.testing.assert_allclose(np.linalg.norm(np.diff(where, axis=0), axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(np.abs(where[0] - where[5]).max(), 5, atol=1e-5)


def test_nodes_with_the_same_neighbours_share_their_place() -> None:
    legs = [(0 if i == 1 else leg + i - 1, leg + i) for leg in (0, 4, 8) for i in (1, 2, 3, 4)]
    where = places(both_directions([*legs, (4, 13), (4, 14), (4, 15)]).numpy(), 16)
    assert len({tuple(place) for place in where[13:]}) == 1
    assert len({tuple(place) for place in where}) == 14


def test_components_stand_alone() -> None:
    edges = np.concatenate([path(5), path(2, 5)], axis=1)
    where = places(edges, 8)
    assert components(edges, 8).tolist() == [0] * 5 + [1] * 2 + [2]
    np.testing.assert_array_equal(where[:5], places(path(5), 5))
    np.testing.assert_array_equal(where[5:], [[-0.5, 0], [0.5, 0], [0, 0]])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PPRO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(isomap, "WORTH_KEEPING", 5)
    return tmp_path / "cache"


def test_places_are_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edges = connected_edges(12, 0).numpy()
    first = places(edges, 12)
    (file,) = (p for p in cache.rglob("*") if p.is_file())
    assert file.suffix == ".npy"
    monkeypatch.setattr(isomap, "_computed", None)
    np.testing.assert_array_equal(places(edges, 12), first)


def test_another_graph_is_another_file(cache: Path) -> None:
    places(connected_edges(12, 0).numpy(), 12)
    places(connected_edges(12, 0).numpy(), 13)
    places(connected_edges(12, 1).numpy(), 12)
    assert len(list(cache.rglob("*.npy"))) == 3


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x93NUMPY"])
def test_a_broken_file_is_made_again(cache: Path, content: bytes) -> None:
    edges = connected_edges(12, 0).numpy()
    first = places(edges, 12)
    (file,) = cache.rglob("*.npy")
    file.write_bytes(content)
    np.testing.assert_array_equal(places(edges, 12), first)
    np.testing.assert_array_equal(np.load(file), first)


def test_a_pickle_is_never_loaded(cache: Path) -> None:
    edges = connected_edges(12, 0).numpy()
    first = places(edges, 12)
    (file,) = cache.rglob("*.npy")
    np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    np.testing.assert_array_equal(places(edges, 12), first)


def test_a_folder_that_cannot_be_written_to_does_no_harm(cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    edges = connected_edges(12, 0).numpy()
    assert places(edges, 12).shape == (12, 2)


def test_a_changed_file_is_noticed(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    edges = connected_edges(12, 0).numpy()
    first = places(edges, 12)
    (file,) = cache.rglob("*.npy")
    sound = file.read_bytes()
    changed = bytearray(sound)
    changed[140] ^= 1
    file.write_bytes(changed)
    np.testing.assert_array_equal(places(edges, 12), first)
    assert "changed since it was written" in caplog.text
    assert file.read_bytes() == sound
    file.write_bytes(sound[:-32])
    np.testing.assert_array_equal(places(edges, 12), first)
    assert file.read_bytes() == sound
