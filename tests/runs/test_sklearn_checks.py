"""scikit-learn's own checks of an estimator.

They know estimators of matrices only, and ours takes graphs. A matrix is a graph without edges,
so the checks get that; errors, which are ours, get the type that they look for.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ppro import PProClassifier, PProError
from ppro.runs.estimator import NodeDescription


class OnRows(PProClassifier):
    """The estimator on the rows of a matrix."""

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        X, y = validate_data(self, X, y, accept_sparse="csr")
        check_classification_targets(y)
        try:
            return super().fit((no_edges(X), X), y)
        except PProError as error:
            raise ValueError(str(error)) from error

    def describe(self, graph: Any) -> NodeDescription:
        check_is_fitted(self)
        if hasattr(graph, "edge_index"):
            return super().describe(graph)
        X = validate_data(self, graph, reset=False, accept_sparse="csr")
        return super().describe((no_edges(X), X))

    def score(
        self, graph: Any, y: Any = None, mask: Any = None, *, metric: str | None = None
    ) -> float:
        return float(np.mean(self.predict(graph) == y))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = tags.input_tags.sparse = tags.target_tags.required = True
        return tags


def no_edges(X: Any) -> Any:
    return sp.coo_array((X.shape[0], X.shape[0]))


DO_NOT_APPLY = {
    "check_classifiers_classes": "its classes are -1 and 1, and -1 stands for no label here",
}
SMALL: dict[str, Any] = {"hidden": 16, "max_steps": 1, "dropout": 0.1, "feature_norm": "none"}
QUICK = OnRows(epochs=40, lr=0.05, validation_share=0.1, **SMALL)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [QUICK], expected_failed_checks=lambda estimator: DO_NOT_APPLY
)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
