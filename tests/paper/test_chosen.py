"""What the searches chose, as a page tells it."""

from __future__ import annotations

from pathlib import Path

from ppro.paper import chosen
from ppro.paper.cells import Cell
from ppro.paper.store import Store
from ppro.paper.tables import TABLES
from ppro.search.offers import DEPTH, Offer
from ppro.settings.settings import Settings
from tests.paper.support import keep, reached


def test_a_cell_tells_what_its_search_could_choose(tmp_path: Path) -> None:
    store = Store(tmp_path)
    panels = [panel for name in chosen.SHOWN for panel in TABLES[name]().panels]
    assert chosen.markdown(store).count("Not recorded yet.") == len(panels)
    settings = Settings(model="gcn", max_steps=4, dropout=0.2, lr=0.002, weight_decay=5e-5)
    cell = Cell("cora", "public", "gcn", offer=Offer(DEPTH, 4))
    keep(store, cell.place, {**reached([80.0]), "settings": settings})
    shape, values = "hidden 64, max_steps 4", "dropout 0.2, weight_decay 5e-05, lr 0.002"
    assert f"| GCN | 4 | {shape}, decay first, {values} |" in chosen.markdown(store)
    usual = Cell("texas", "random-60-20-20", "l2b")
    settings = Settings(concat=True, feature_norm="none", epsilon=0.3)
    keep(store, usual.place, {**reached([80.0]), "settings": settings})
    text = chosen.markdown(store)
    assert "| L2B | Texas | feature_norm none, decay first, concat yes, max_steps 10, " in text
    assert "epsilon 0.3" in text
    assert "seed" not in text
