"""PPro as an estimator: fit a graph of yours, predict, on the contract of scikit-learn."""

import time
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ppro.compute.device import find_device
from ppro.compute.precision import as_by_default
from ppro.errors import DataError
from ppro.graph.convert import as_mask, labels_of, masks_of, take
from ppro.graph.labels import known_labels
from ppro.parts import METRICS
from ppro.runs.calibrating import adjusted_chances, calibration_of
from ppro.runs.config import RunConfig, run_settings
from ppro.runs.estimator_parameters import SETTINGS, EstimatorParameters
from ppro.runs.estimator_search import SPLITS, Prepared, search_settings
from ppro.runs.node_description import NodeDescription, describe_graph
from ppro.runs.scoring import in_all_classes, metrics_of
from ppro.runs.table_input import of_tables, schema_of
from ppro.runs.writing import TrainedRun
from ppro.search.auto_final import fit_until
from ppro.training.checkpoint import Checkpointing
from ppro.training.diagnosis import Diagnosis
from ppro.training.fit import fit
from ppro.training.metrics import Metric
from ppro.training.stopping import MEASURED

NOT_ALWAYS = ("embedding_", "temperature_", "threshold_", "positive_class_")
"""Attributes that only some trainings have."""
__all__ = ["SETTINGS", "NodeDescription", "PPro", "PProClassifier", "find_device"]


class PProClassifier(ClassifierMixin, EstimatorParameters):  # type: ignore[misc]
    """Node classification with a step and a priority for every node; ``ppro.PPro`` for short.

    Wherever a graph is asked for, it may be a :class:`ppro.Graph`, a ``Data`` of PyTorch
    Geometric, a NetworkX graph (attributes ``x`` and ``y``; others with :func:`ppro.as_graph`),
    tables (:func:`ppro.read_tables`) or a pair (adjacency, features) of SciPy or NumPy matrices.
    Parameters are checked by :meth:`fit`. Those that are None have the value of ``settings``, or
    else its default.

    Args:
        backbone: appnp, gat, gcn, gcnii, grand or sgc; a class of backbones; a BasicGNN of PyTorch
            Geometric or a list of its convolutions, which decide the number of steps too.
        strategy: how nodes choose their step: l2b, l2u, or none.
        teaching: compare, for controllers that learn which step is better for a node, or paper;
            compare where nothing that only the paper's form has is set.
        judges: whose errors teach the controllers: train, share, folds or judges of your own.
        max_steps: L, the largest number of steps.
        epsilon: the threshold ε of the propagation controller.
        hidden: width of the hidden layer.
        dropout: dropout rate of features and hidden layer.
        feature_norm: row, or none to take the features as they are.
        lr: learning rate of the backbone.
        weight_decay: L2 penalty of the backbone.
        epochs: most epochs of a run.
        patience: epochs without a better validation score before a run stops.
        metric: what validation and :meth:`score` measure: accuracy, balanced-accuracy, macro-f1,
            weighted-f1, roc-auc, average-precision, log-loss, calibration-error, or your own.
        class_weight: "balanced", or a dict from classes to weights (1 where missing).
        validation_share: share of the training nodes held out where no validation mask is given.
        n_runs: runs trained together; the one with the best validation score is used.
        random_state: seed of weights, dropout and held-out nodes; run r has seed + r.
        device: auto, cpu, cuda or cuda:N.
        threads: CPU cores to use; chosen from the work when None.
        settings: any other of :class:`ppro.Settings`, as a dict or all of them.
        recipe: "auto" searches settings on the training and validation nodes, also at no
            propagation and no controllers; "plain" is one setting that is safe on any graph; or
            the name of a shipped one, or a TOML file. By default auto, where no parameter says
            what to train, else none.
        budget: seconds of a search and the training that follows it.

    Attributes:
        classes_: the classes, as the labels wrote them. Shape ``[c]``.
        propagation_steps_: the step of every node of the fitted graph. Shape ``[n]``.
        node_priorities_: its priority. Shape ``[n]``.
        embedding_: its embedding at that step. Shape ``[n, d]``.
        diagnosis_: how far steps and priorities differ between the nodes of every run, and by
            ``verdicts()`` whether they hardly do; None for a folder that does not say.
        history_: what training measured per epoch, by name: losses, accuracy, score, steps.
        validation_score_: the metric on the validation nodes in the state that is kept.
        splits_: the training and validation nodes of every run.
        best_run_: the run that is used.
        settings_: the settings of every run.
        model_: the network, all runs in one.
        metrics_: every metric on its validation and test nodes, as ``metrics_["val"]["macro-f1"]``.
        temperature_: what fits its probabilities to the validation nodes; see ``predict_proba``.
        threshold_: that with the best F1 there, of two classes; see ``predict``.
        positive_class_: the class that it is about.
        search_: what a search has tried and chosen, with the runners-up; None where there was none.
        interrupted_: whether Ctrl-C ended the training early.
        n_features_in_: number of features.
        run_: all that :meth:`save` writes.
    """

    @as_by_default()
    def fit(
        self,
        graph: Any,
        y: Any = None,
        *,
        train_mask: Any = None,
        val_mask: Any = None,
        test_mask: Any = None,
        checkpoint: Checkpointing | Path | str | None = None,
        resume: bool = False,
    ) -> Self:
        """Train on a graph.

        A mask that is not given is that of the graph, where it has one. Without a training mask
        every labelled node trains that is in no other mask; without a validation mask
        ``validation_share`` of the training nodes, class by class, is held out with the seed.
        Labels of test nodes take no part. Ctrl-C ends training early in the best state so far.

        Args:
            y: a label for every node, text or whole numbers, instead of those of the graph; None,
                NaN or -1 where it is not known.
            train_mask: Shape ``[n]``, bool, or with one row or column for each run.
            val_mask: see ``train_mask``.
            test_mask: see ``train_mask``; keeps nodes out of training.
            checkpoint: folder to save the training in every ten seconds and on Ctrl-C.
            resume: go on from the checkpoint, where there is one.
        """
        start = time.monotonic()
        taken = take(of_tables(graph, y=y), y)
        given = self._given()
        settings = self._settings(given, taken.graph)
        own = {"train_mask": train_mask, "val_mask": val_mask, "test_mask": test_mask}
        device, weights = find_device(self.device), self._class_weight(taken.classes)
        speed: Any = {"device": device, "threads": self.threads, "class_weight": weights}
        known = taken.graph, taken.masks, own, settings[0].seed
        work = Prepared(settings, self._splits(*known, self.n_runs))
        if self._searches:
            wide = self._splits(*known, max(self.n_runs, SPLITS))
            limits: Any = {"runs": self.n_runs, "budget": self._budget(), "start": start}
            work = search_settings(taken.graph, wide, given, **limits, **speed)
        kept: Any = {"checkpoint": checkpoint, "resume": resume, "backbone": self._own_backbone()}
        do = fit if work.until is None else partial(fit_until, fit, work.until)
        splits = work.splits
        result = do(taken.graph, splits, work.settings, **speed, **kept)
        schema = schema_of(graph, taken.graph)
        graph, first = taken.graph, result.settings[0]
        config = RunConfig(dataset=graph.name, split=splits.name, runs=splits.runs, settings=first)
        names: Any = {"classes": taken.classes.tolist(), "own_backbone": self._backbone_in_words()}
        told: Any = {"device": str(device), "schema": schema, "notes": work.notes}
        run = TrainedRun.of(config, graph, splits, result, **names, **told)
        run.facts.update(work.facts)
        self._keep(run)
        self.classes_ = taken.classes
        return self

    @classmethod
    def of_run(cls, run: TrainedRun, **parameters: Any) -> Self:
        """Return a fitted estimator from all that a run folder holds."""
        estimator = cls(**parameters)
        estimator._keep(run)
        return estimator

    def predict(self, graph: Any, *, threshold: str | float | None = None) -> NDArray[Any]:
        """Return the class of every node, also of a graph not seen in training. ``[n]``.

        Args:
            threshold: of two classes, the probability from which on a node is of the positive one
                (``positive_class_``); "best" for the one with the best F1 on the validation nodes
                (``threshold_``). Without it the most probable class.
        """
        chances = self.predict_proba(graph)
        if threshold is None:
            return self._classes_of(chances)
        known = calibration_of(self.run_.facts, self.best_run_)
        _, found = adjusted_chances(torch.from_numpy(chances), known, threshold=threshold)
        assert found is not None
        told: NDArray[Any] = self.classes_[found.numpy()]
        return told

    def predict_proba(self, graph: Any, *, calibrated: bool = False) -> NDArray[np.float32]:
        """Return the probability of every class of every node. Shape ``[n, c]``.

        Args:
            calibrated: at the temperature that fits the validation nodes best (``temperature_``).
        """
        chances = self.describe(graph).probabilities
        if not calibrated:
            return chances
        known = calibration_of(self.run_.facts, self.best_run_)
        found, _ = adjusted_chances(torch.from_numpy(chances), known, calibrated=True)
        told: NDArray[np.float32] = found.numpy()
        return told

    def fit_predict(self, graph: Any, y: Any = None, **options: Any) -> NDArray[Any]:
        """Train on a graph, and return the class of every node of it. Shape ``[n]``."""
        self.fit(graph, y, **options)
        assert self.run_.nodes.probabilities is not None
        return self._classes_of(self.run_.nodes.probabilities.numpy())

    def _classes_of(self, probabilities: NDArray[Any]) -> NDArray[Any]:
        found: NDArray[Any] = self.classes_[probabilities.argmax(1)]
        return found

    def score(
        self, graph: Any, y: Any = None, mask: Any = None, *, metric: str | None = None
    ) -> float:
        """Return a metric on some nodes; by default that of the estimator: accuracy, from 0 to 1.

        Of log-loss and calibration-error less is better.

        Args:
            y: the true labels; those of the graph when None.
            mask: the nodes to score. Without it the graph's test mask; without that, all nodes
                with a label. Shape ``[n]``, bool, or one row or column for each run: that of
                ``best_run_`` counts.
            metric: the name of another metric than that of the estimator.
        """
        check_is_fitted(self)
        wanted: Metric = METRICS.get(metric or self.settings_[0].training.metric)()
        graph = of_tables(graph, self.run_.schema)
        chances = self.predict_proba(graph)
        name, count = type(graph).__name__, chances.shape[0]
        true = labels_of(graph) if y is None else y
        if true is None:
            raise DataError(f"{name}: no labels to score against; give y")
        labels, known = known_labels(true, count, name)
        if mask is None:
            mask = masks_of(graph).get("test_mask", known)
        rows = as_mask(mask, count, "mask")
        chosen = rows[self.best_run_ % rows.shape[0]].numpy() & known
        if not chosen.any():
            raise DataError(f"{name}: no node with a label to score; give another mask")
        return wanted.number(*in_all_classes(chances[chosen], labels[chosen], self.classes_))

    @as_by_default()
    def describe(self, graph: Any) -> NodeDescription:
        """Return probabilities, step, priority and embedding of every node of a graph.

        Raises:
            DataError: the graph has another number of features than the one trained on.
        """
        check_is_fitted(self)
        ours = take(of_tables(graph, self.run_.schema), classes=self.classes_).graph
        if ours.num_features != self.n_features_in_:
            raise DataError(
                f"{ours.name}: {ours.num_features} features, but the model was trained on "
                f"{self.n_features_in_}; give the same ones in the same order"
            )
        return describe_graph(self.model_, ours, self.settings_, self.best_run_, self.threads)

    def save(self, folder: Path | str) -> None:
        """Write the fitted estimator to a new folder; :func:`ppro.load` reads it.

        Raises:
            RunError: something stands there, or it cannot be written.
        """
        from ppro.runs.saving import save

        save(self, Path(folder))

    def _keep(self, run: TrainedRun) -> None:
        trained, nodes, facts = run.config.trained, run.nodes, run.facts
        assert trained is not None
        for name in NOT_ALWAYS:
            # An earlier fit may have had more to tell.
            self.__dict__.pop(name, None)
        self.run_, self.model_ = run, run.model
        self.settings_, self.best_run_ = tuple(run_settings(run.config)), trained.best_run
        self.classes_, self.n_features_in_ = np.array(trained.classes), trained.num_features
        self.splits_ = nodes.splits
        self.propagation_steps_ = nodes.steps.numpy()
        self.node_priorities_ = nodes.priorities.numpy()
        self.diagnosis_ = Diagnosis.read(facts.get("diagnosis"))
        if nodes.embedding is not None:
            self.embedding_ = nodes.embedding.numpy()
        self.validation_score_ = float(facts["per_run"][self.best_run_]["val_score"])
        self.metrics_ = metrics_of(facts, self.best_run_)
        known = calibration_of(facts, self.best_run_)
        if known is not None:
            self.temperature_, self.threshold_ = known.temperature, known.threshold
            if known.positive is not None:
                self.positive_class_ = self.classes_[known.positive]
        self.search_ = facts.get("search")
        self.interrupted_ = run.history.interrupted
        epochs = int(run.history.epochs[self.best_run_])
        rows = run.history.metrics[:epochs, :, self.best_run_].numpy()
        self.history_ = dict(zip(MEASURED, rows.T, strict=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.required = False
        return tags


PPro = PProClassifier
"""The same class under a shorter name."""
