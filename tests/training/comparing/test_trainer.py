"""Trainings whose controllers compare: stopped and resumed, side by side, and at their edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from ppro.data import Splits
from ppro.graph.core import Graph
from ppro.nn.backbones.appnp import APPNP
from ppro.nn.comparing.network import ComparingNetwork
from ppro.parts import METRICS
from ppro.settings.settings import Settings
from ppro.training.checkpoint import Checkpointing
from ppro.training.fit import Fit, fit
from ppro.training.stopping import MEASURED
from tests.killing import same
from tests.training.comparing.support import settings_of, small_graph, splits_of, trainer_of

RUNS = 4
KINDS: list[dict[str, Any]] = [
    {"judges": "train"},
    {"judges": "folds", "judge_folds": 2, "edge_dropout": 0.2},
    {"judges": "share", "judge_share": 0.3, "strategy": "l2u"},
    {"judges": "folds", "start": "held", "strategy": "l2u"},
    {"judges": "folds", "consistency": 0.5, "consistency_on": "selected", "node_dropout": 0.2},
    {"judges": "folds", "selection": "smoothed", "use_weighting": False, "judge_every": 3},
    {"judges": "folds", "consistency": 0.5, "fading": 2.0},
]


@pytest.fixture(scope="module")
def graph() -> Graph:
    return small_graph()


@pytest.fixture(scope="module")
def splits(graph: Graph) -> Splits:
    return splits_of(graph, RUNS)


@pytest.fixture(autouse=True)
def restored_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


class StopError(Exception):
    """Ends a training as hard as a kill would."""


def killed_at(epoch: int) -> Any:
    def on_epoch(done: int, metrics: Tensor, going: int) -> None:
        if done == epoch:
            raise StopError

    return on_epoch


@pytest.mark.parametrize(
    ("changes", "threads"), [*((kind, 1) for kind in KINDS), (KINDS[1], 2)], ids=str
)
def test_a_resumed_training_has_the_bits_of_one_never_stopped(
    graph: Graph, splits: Splits, tmp_path: Path, changes: dict[str, Any], threads: int
) -> None:
    runs = settings_of(RUNS, **changes)
    whole = fit(graph, splits, runs, threads=threads)
    ends = sorted(set(whole.history.epochs.tolist()))
    # Between two judgings, after one, and after some of the runs have stopped.
    assert len(ends) > 1
    for epoch in (3, 6, ends[0] + 1):
        with pytest.raises(StopError):
            fit(
                *(graph, splits, runs),
                threads=threads,
                checkpoint=Checkpointing(tmp_path, every=0),
                resume=True,
                on_epoch=killed_at(epoch),
            )
    resumed = fit(graph, splits, runs, checkpoint=tmp_path, resume=True)
    assert same(resumed, whole)


def close(a: Fit, b: Fit, run: int = 0) -> None:
    """Whether the first run of one is a run of the other."""
    assert a.history.epochs[0] == b.history.epochs[run]
    epochs = int(a.history.epochs[0])
    metrics = [fitted.history.metrics[:epochs, :, r] for fitted, r in ((a, 0), (b, run))]
    torch.testing.assert_close(*metrics, atol=1e-4, rtol=1e-3, equal_nan=True)
    assert (a.nodes.steps[0] == b.nodes.steps[run]).float().mean() > 0.97


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_a_run_in_a_batch_is_the_run_alone(
    graph: Graph, splits: Splits, changes: dict[str, Any]
) -> None:
    settings = settings_of(RUNS, **changes)
    both = fit(graph, splits, settings, threads=1)
    for run in (0, 2):
        alone = fit(graph, splits.take(torch.tensor([run])), [settings[run]], threads=1)
        close(alone, both, run)


def test_workers_train_what_one_program_trains(graph: Graph, splits: Splits) -> None:
    settings = settings_of(RUNS)
    one, two = (fit(graph, splits, settings, threads=threads) for threads in (1, 2))
    assert isinstance(two.model, ComparingNetwork)
    assert two.model.judges == 0
    for run in range(RUNS):
        assert one.history.best_epoch[run] == two.history.best_epoch[run]
    torch.testing.assert_close(one.nodes.probabilities, two.nodes.probabilities, atol=1e-3, rtol=0)


def test_judges_are_gone_once_trained(graph: Graph, splits: Splits) -> None:
    settings = settings_of(2, epochs=4)
    train = trainer_of(graph, splits.take(torch.tensor([0, 1])), settings)
    shapes = [p.shape for p in train.model.phi()]
    assert {p.shape[0] for p in train.model.theta()} == {8}
    train.run()
    assert {p.shape[0] for p in train.model.theta()} == {2}
    assert [p.shape for p in train.model.phi()] == shapes


@pytest.mark.parametrize("changes", [{"epochs": 3}, {"patience": 1}, {"epochs": 1, "patience": 1}])
def test_no_training_ends_in_a_state_of_the_warm_up(
    graph: Graph, splits: Splits, changes: dict[str, int]
) -> None:
    settings = settings_of(RUNS, **{"judge_every": 5, "warm_up": 6, **changes})
    found = fit(graph, splits, settings, threads=1)
    # A training that is shorter than its warm-up has no other states.
    first = 0 if "epochs" in changes else 6
    assert bool((found.history.best_epoch >= first).all())
    scores = found.history.metrics[:, MEASURED.index("val_score")]
    assert scores[:first].isnan().all()
    assert scores[first].isfinite().all()
    untrained = trainer_of(graph, splits, settings).model.theta()
    for p, q in zip(found.model.theta(), untrained, strict=True):
        assert not torch.equal(p, q[::4])


def test_what_validates_is_what_the_model_says_afterwards(graph: Graph, splits: Splits) -> None:
    found = fit(graph, splits, settings_of(RUNS), threads=1)
    measured = found.history.metrics[:, MEASURED.index("val_accuracy")]
    best = measured.gather(0, found.history.best_epoch.unsqueeze(0))[0]
    torch.testing.assert_close(100 * best, found.val_accuracy, atol=1e-3, rtol=0)


@pytest.mark.parametrize("metric", ["macro-f1", "roc-auc"])
def test_another_metric_chooses(graph: Graph, splits: Splits, metric: str) -> None:
    found = fit(graph, splits, settings_of(RUNS, metric=metric, epochs=12), threads=1)
    scores = found.history.metrics[:, MEASURED.index("val_score")]
    best = scores.nan_to_num(-1).max(0)
    assert torch.equal(best.values, scores.gather(0, found.history.best_epoch.unsqueeze(0))[0])
    measure = METRICS.get(metric)().of_runs(
        found.nodes.probabilities, graph.labels.expand(RUNS, -1), splits.val
    )
    torch.testing.assert_close(best.values, measure.float(), atol=2e-3, rtol=0)


def test_class_weights_count(graph: Graph, splits: Splits) -> None:
    settings = settings_of(RUNS, epochs=12)
    plain, ones, twos, other = (
        fit(graph, splits, settings, threads=1, class_weight=weights)
        for weights in (None, [1, 1, 1], [2, 2, 2], [1, 1, 9])
    )
    assert same(plain, ones)
    torch.testing.assert_close(plain.history.metrics, twos.history.metrics, equal_nan=True)
    assert not same(plain, other)


def few(graph: Graph, splits: Splits, nodes: list[int]) -> Splits:
    """One run that learns from the given nodes alone."""
    train = torch.zeros(1, graph.num_nodes, dtype=torch.bool)
    train[0, nodes] = True
    return Splits("few", train, splits.val[:1] & ~train, splits.test[:1] & ~train)


@pytest.mark.parametrize("judges", ["train", "share", "folds"])
@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_hardly_any_labels(graph: Graph, splits: Splits, judges: str, strategy: str) -> None:
    by_class = [(graph.labels == c).nonzero().squeeze(1).tolist() for c in range(3)]
    share = {"judge_share": 0.3} if judges == "share" else {}
    (settings,) = settings_of(1, judges=judges, strategy=strategy, epochs=10, **share)
    for nodes in (by_class[0][:1], by_class[1][:3], by_class[0][:2] + by_class[2][:1]):
        found = fit(graph, few(graph, splits, nodes), [settings], threads=1)
        assert all(bool(p.isfinite().all()) for p in found.model.parameters())
        assert bool(found.nodes.probabilities.isfinite().all())
        judged = found.history.metrics[5::2]  # after the warm-up
        assert bool(judged.isfinite().all())


def test_runs_of_different_sizes(graph: Graph, splits: Splits) -> None:
    small, settings = few(graph, splits, list(range(6))), settings_of(2, epochs=10)
    both = Splits("both", *(torch.cat([getattr(s, k)[:1] for s in (small, splits)]) for k in MASKS))
    alone = fit(graph, small, settings[:1], threads=1)
    close(alone, fit(graph, both, settings, threads=1))


MASKS = ("train", "val", "test")


@pytest.mark.parametrize("backbone", ["gat", "gcn", "gcnii", "grand", "sgc"])
def test_every_backbone_has_judges(graph: Graph, splits: Splits, backbone: str) -> None:
    needed = {"consistency": 0.5} if backbone == "grand" else {}
    settings = settings_of(2, backbone=backbone, epochs=6, hidden=8, **needed)
    found = fit(graph, splits.take(torch.tensor([0, 1])), settings, threads=1)
    assert all(p.shape[0] == 2 for p in found.model.parameters())
    alone = fit(graph, splits.take(torch.tensor([0])), settings[:1], threads=1)
    close(alone, found)


class OwnBackbone(APPNP):
    """A user's own."""


def test_a_backbone_of_ones_own_has_judges(graph: Graph, splits: Splits) -> None:
    settings = settings_of(1, epochs=6)
    one = splits.take(torch.tensor([0]))
    own, named = (fit(graph, one, settings, backbone=b, threads=1) for b in (OwnBackbone, None))
    assert isinstance(own.model, ComparingNetwork)
    assert same(own, named)


def test_convolutions_have_judges(graph: Graph, splits: Splits) -> None:
    pyg = pytest.importorskip("torch_geometric.nn")
    gnn = pyg.GCN(graph.num_features, 6, 3)
    found = fit(graph, splits, settings_of(RUNS, epochs=4), backbone=gnn, threads=1)
    assert isinstance(found.model, ComparingNetwork)
    assert int(found.nodes.steps.max()) <= 2


@pytest.mark.parametrize("strategy", ["l2b", "l2u"])
def test_test_labels_take_no_part(graph: Graph, splits: Splits, strategy: str) -> None:
    settings, one = settings_of(1, strategy=strategy, epochs=10), splits.take(torch.tensor([0]))
    labels = torch.where(one.test[0], (graph.labels + 1) % 3, graph.labels)
    a, b = (fit(g, one, settings, threads=1) for g in (graph, replace(graph, labels=labels)))
    assert same(a, b)


def test_without_controllers_teaching_plays_no_part(graph: Graph, splits: Splits) -> None:
    def trained(**changes: str) -> Fit:
        chosen = [Settings(strategy="none", epochs=4, seed=s, **changes) for s in range(RUNS)]
        return fit(graph, splits, chosen, threads=1)

    assert same(trained(), trained(teaching="compare"))


@pytest.mark.parametrize(("start", "ages"), [("held", [0, 3, 0, 6]), ("explore", [0, 3, 4, 10])])
def test_agreement_grows_anew_with_a_backbone_that_begins_anew(
    graph: Graph, splits: Splits, start: str, ages: list[int]
) -> None:
    # With all of the consistency loss from its first epoch, a backbone predicts one class for all.
    trainer = trainer_of(graph, splits, settings_of(RUNS, start=start, consistency=5.0))
    found = []
    for epoch in (0, 3, 4, 10):
        trainer.record.now.fill_(epoch)
        found.append(int(trainer.age))
    assert found == ages
