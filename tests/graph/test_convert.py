from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

from ppro import DataError, as_graph, load_graph
from ppro.graph.convert import as_mask, labels_of, take

EDGES = torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 2, 2]])
X = torch.arange(8.0).view(4, 2)
BOTH = [[0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2]]


def pairs(graph: Any) -> list[list[int]]:
    found: list[list[int]] = graph.edge_index.T.tolist()
    return found


def data(**changes: Any) -> Data:
    return Data(**{"x": X, "edge_index": EDGES, "y": torch.tensor([0, 1, -1, 1]), **changes})


def test_data_of_pyg() -> None:
    graph = as_graph(data())
    assert pairs(graph) == BOTH
    assert torch.equal(graph.features, X)
    assert graph.labels.tolist() == [0, 1, -1, 1]
    assert graph.class_names == ("0", "1")
    assert graph.edge_weight is None


def test_data_with_weights_sparse_features_and_names() -> None:
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    graph = as_graph(data(edge_weight=weight, x=X.to_sparse()), ["a", "b", None, "a"])
    assert graph.edge_weight is not None
    assert graph.edge_weight.tolist() == [2.0, 2.0, 3.0, 3.0, 5.0, 5.0]
    assert torch.equal(graph.features.to_dense(), X)
    assert graph.class_names == ("a", "b")
    assert graph.labels.tolist() == [0, 1, -1, 0]


def test_networkx_graphs() -> None:
    made = nx.DiGraph(name="zoo")
    for node, x in zip("abcd", X.tolist(), strict=True):
        made.add_node(node, x=x, y="even" if node in "ac" else "odd")
    made.add_edges_from([("a", "b"), ("b", "c"), ("c", "c"), ("d", "c")])
    graph = as_graph(made)
    assert pairs(graph) == BOTH
    assert torch.equal(graph.features, X)
    assert graph.class_names == ("even", "odd")
    assert graph.labels.tolist() == [0, 1, 0, 1]
    assert graph.node_ids == ("a", "b", "c", "d")
    assert graph.name == "zoo"


def test_networkx_attributes_by_name() -> None:
    made = nx.MultiGraph()
    for node in range(3):
        made.add_node(node, size=float(node), age=2, topic=["t", "s", None][node])
    made.add_edge(0, 1, w=2.0)
    made.add_edge(0, 1, w=3.0)
    graph = as_graph(made, features=["size", "age"], label="topic", weight="w")
    assert graph.features.tolist() == [[0, 2], [1, 2], [2, 2]]
    assert graph.class_names == ("s", "t")
    assert graph.edge_weight is not None
    assert graph.edge_weight.tolist() == [3.0, 3.0]


def torch_csr(matrix: Any) -> torch.Tensor:
    return torch.as_tensor(matrix).to_sparse_csr()


def torch_coo(matrix: Any) -> torch.Tensor:
    return torch.as_tensor(matrix).to_sparse()


KINDS = [sp.csr_array, sp.coo_matrix, np.asarray, torch.as_tensor, torch_csr, torch_coo]


@pytest.mark.parametrize("kind", KINDS)
def test_matrices(kind: Any) -> None:
    adjacency = np.zeros((4, 4))
    adjacency[EDGES[0], EDGES[1]] = 1
    graph = as_graph((kind(adjacency), kind(X.numpy())), [0, 1, -1, 1])
    assert pairs(graph) == BOTH
    assert torch.equal(graph.features.to_dense(), X)
    assert graph.edge_weight is None
    weighted = as_graph((kind(2.5 * adjacency), X), [0, 1, -1, 1])
    assert weighted.edge_weight is not None
    assert set(weighted.edge_weight.tolist()) == {2.5}


def test_our_own_graph_stays() -> None:
    graph = load_graph("csbm", options={"nodes": 20, "classes": 2})
    assert as_graph(graph) is graph
    renamed = as_graph(graph, ["x" if c else None for c in range(10)] + ["y"] * 10)
    assert renamed.class_names == ("x", "y")
    assert renamed.labels.tolist() == [-1, *[0] * 9, *[1] * 10]
    assert labels_of(renamed).tolist() == [None, *["x"] * 9, *["y"] * 10]


def test_a_graph_to_predict_keeps_no_labels() -> None:
    classes = np.array(["a", "b", "c"])
    for source in (data(), load_graph("csbm", options={"nodes": 20, "classes": 2})):
        taken = take(source, classes=classes)
        assert taken.graph.class_names == ("a", "b", "c")
        assert set(taken.graph.labels.tolist()) == {-1}


def broken_networkx(**changes: Any) -> Any:
    made = nx.Graph()
    made.add_node(0, x=[1.0], y=0)
    made.add_node(1, **{"x": [1.0], "y": 1, **changes})
    made.add_edge(0, 1)
    return made


def half_weighted() -> Any:
    made = broken_networkx()
    made.add_edge(0, 0, weight=2.0)
    return made


def weighted(weight: Any) -> Any:
    made = broken_networkx()
    made[0][1]["weight"] = weight
    return made


SQUARE, ODD = np.eye(4), np.ones((4, 3))
BROKEN: list[tuple[Any, Any, str]] = [
    (data(x=None), None, "Data: no node features x"),
    (data(x=None), None, r"such as its degree, or a one of its own: x=torch.eye\(n\)"),
    (data(edge_index=None), None, "Data: no edge_index"),
    (data(edge_index=None, adj_t=EDGES), None, r"ToSparseTensor\(remove_edge_index=False\)"),
    (data(y=None), None, "Data: no labels; give one for each node"),
    (data(x=X.clone().fill_(torch.nan)), None, "8 feature values are NaN or infinite"),
    (data(x=X[:3]), None, "labels of shape"),
    (data(y=torch.tensor([0, 1, -3, 1])), None, "label -3 of node 2 is negative"),
    (data(y=torch.tensor([0.5, 1, 0, 1])), None, r"label 0\.5 of node 0 is not a whole number"),
    (data(y=torch.tensor([1, 1, -1, 1])), None, "needs two classes or more .-1 is no class"),
    (data(y=torch.tensor([-1, -1, -1, -1])), None, "no label is known"),
    (data(edge_index=EDGES.float()), None, "edges must be whole numbers"),
    (data(edge_index=EDGES + 5), None, "nodes count from 0 to 3"),
    (data(edge_weight=torch.ones(2)), None, r"edge weights of shape \(2,\) for 5 edges"),
    (data(edge_weight="heavy"), None, "edge_weight: str of no numbers; give a tensor"),
    (data(edge_index=EDGES.bool()), None, "edges must be whole numbers.*torch.bool"),
    (data(x=X.to(torch.complex64)), None, "features: complex numbers, dates or durations"),
    (data(edge_weight=-torch.ones(5)), None, "edge weights must be positive"),
    (data(train_mask=torch.ones(4)), None, "Data.train_mask: a mask of float32"),
    (data(val_mask=torch.ones(3, dtype=torch.bool)), None, "Data.val_mask: a mask of shape"),
    ((ODD, X), [0, 1, 0, 1], r"an adjacency of shape \(4, 3\); it must be square"),
    ((EDGES, X), [0, 1, 0, 1], r"an edge_index goes into a Data\(x=…, edge_index=…\)"),
    ([data(), data()], None, "matrices: Data is no adjacency matrix; give one of SciPy"),
    ((SQUARE, X[:2]), [0, 1], "2 rows of features for an adjacency of 4 nodes"),
    ((SQUARE, [["a"]] * 4), [0, 1, 0, 1], "features are not all numbers"),
    ((SQUARE, np.full((4, 2), np.inf)), [0, 1, 0, 1], "NaN or infinite"),
    ((SQUARE, np.full((4, 1), np.datetime64("2020-01-01"))), [0, 1, 0, 1], "features: complex"),
    ((SQUARE, sp.csr_array(ODD + 1j)), [0, 1, 0, 1], "features: complex numbers"),
    ((SQUARE + 1j, X), [0, 1, 0, 1], "an adjacency: complex numbers"),
    ((SQUARE, np.ma.masked_equal(ODD, 1)), [0, 1, 0, 1], "12 feature values are NaN"),
    ((SQUARE, [[10**400]] * 4), [0, 1, 0, 1], "features are not all numbers"),
    ((SQUARE, X), None, "matrices: no labels"),
    ((SQUARE, X), [0, 1, 0], "labels of shape"),
    (nx.Graph(), None, "NetworkX graph: no nodes"),
    (broken_networkx(x=[1.0, 2.0]), None, "different numbers of features"),
    (broken_networkx(x="big"), None, "features are not all numbers"),
    (nx.path_graph(3), [0, 1, 0], "node 0 has no attribute 'x' .it has none.; name those"),
    (weighted("heavy"), None, "an edge has the weight 'heavy'; give numbers"),
    (half_weighted(), None, "some edges have no 'weight'"),
    (HeteroData(), None, "HeteroData is no graph that PPro knows"),
    (HeteroData(), None, r"such as data.to_homogeneous\(\) with features for all nodes"),
    (np.zeros((3, 3)), [0, 1, 0], "ndarray is no graph that PPro knows"),
    ("cora", None, "str is no graph that PPro knows"),
]


@pytest.mark.parametrize(("source", "labels", "message"), BROKEN, ids=[b[2][-30:] for b in BROKEN])
def test_what_is_wrong_is_named(source: Any, labels: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        as_graph(source, labels)


@pytest.mark.parametrize(
    ("source", "named", "message"),
    [
        (data(), {"label": "topic"}, r"label='topic' names.*NetworkX.*its own labels \(y\)"),
        (data(), {"features": ["age"]}, r"features=\['age'\] names an attribute of NetworkX"),
        ((SQUARE, X), {"weight": "w"}, "weight='w' names an attribute of NetworkX"),
        (broken_networkx(), {"label": "topic"}, "no node has the attribute 'topic'"),
        (broken_networkx(), {"weight": "w"}, "no edge has the attribute 'w'"),
    ],
)
def test_an_attribute_that_is_named_is_read_or_told_of(
    source: Any, named: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        as_graph(source, **named)


def test_dates_in_a_frame_are_told_of() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"size": 1.0, "day": pd.date_range("2020", periods=4)})
    with pytest.raises(DataError, match="features: complex numbers, dates or durations"):
        as_graph((SQUARE, frame), [0, 1, 0, 1])


def test_tables_are_told_where_to_go() -> None:
    pd = pytest.importorskip("pandas")
    nodes, edges = pd.DataFrame({"id": ["a", "b"]}), pd.DataFrame({"from": ["a"], "to": ["b"]})
    for source in (nodes, (nodes, edges)):
        with pytest.raises(DataError, match=r"give ppro.read_tables\(nodes, edges, label=…\)"):
            as_graph(source)


def test_arrays_and_lists_do_where_data_has_tensors() -> None:
    weight = [1.0, 2.0, 3.0, 4.0, 5.0]
    expected = as_graph(data(edge_weight=torch.tensor(weight)))
    assert expected.edge_weight is not None
    given: dict[str, Any] = {"edge_index": EDGES.numpy(), "edge_weight": weight}
    for changes in (
        given,
        {**given, "edge_index": EDGES.tolist()},
        {"edge_weight": torch.tensor(weight).unsqueeze(1)},
        {"edge_attr": np.array(weight)},
    ):
        graph = as_graph(data(**changes))
        assert torch.equal(graph.edge_index, expected.edge_index)
        assert graph.edge_weight is not None
        assert torch.equal(graph.edge_weight, expected.edge_weight)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, np.float16, np.object_])
def test_matrices_of_kinds_that_scipy_has_not(kind: Any) -> None:
    matrix = np.ones((4, 4)) - np.eye(4)
    of_torch = isinstance(kind, torch.dtype)
    adjacency: Any = torch.tensor(matrix).to(kind) if of_torch else matrix.astype(kind)
    expected = as_graph((matrix, X), [0, 1, 0, 1])
    assert torch.equal(as_graph((adjacency, X), [0, 1, 0, 1]).edge_index, expected.edge_index)


def test_masks_in_either_direction() -> None:
    mask = np.array([True, False, True])
    assert as_mask(mask, 3, "m").tolist() == [mask.tolist()]
    assert as_mask(mask.tolist(), 3, "m").tolist() == [mask.tolist()]
    both = torch.from_numpy(np.stack([mask, ~mask]))
    assert torch.equal(as_mask(both, 3, "m"), both)
    assert torch.equal(as_mask(both.T, 3, "m"), both)


@given(st.integers(2, 8), st.data())
def test_matrices_and_data_agree(n: int, draw: st.DataObject) -> None:
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = draw.draw(st.lists(ends, max_size=20))
    index = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T
    adjacency = sp.coo_array((np.ones(len(edges)), (index[0], index[1])), shape=(n, n))
    adjacency.sum_duplicates()
    adjacency.data[:] = 1
    labels = [i % 2 for i in range(n)]
    one = as_graph(Data(x=torch.ones(n, 1), edge_index=index), labels)
    other = as_graph((adjacency, np.ones((n, 1))), labels)
    assert torch.equal(one.edge_index, other.edge_index)


def test_attributes_of_edges_are_weights_or_told_of() -> None:
    edges = torch.tensor([[0, 1], [1, 2]])
    common: dict[str, Any] = {"x": torch.eye(3), "y": torch.tensor([0, 1, 0]), "edge_index": edges}
    for attribute in (torch.tensor([0.5, 2.0]), torch.tensor([[0.5], [2.0]])):
        weight = as_graph(Data(**common, edge_attr=attribute)).edge_weight
        assert weight is not None
        assert weight.tolist() == [0.5, 0.5, 2, 2]
    for other in (torch.ones(2, 3), torch.tensor([0.0, 1.0]), torch.tensor([1, 2])):
        with pytest.warns(UserWarning, match="edge_attr of shape .* is not used"):
            assert as_graph(Data(**common, edge_attr=other)).edge_weight is None
