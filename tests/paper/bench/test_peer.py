from dataclasses import replace

import pytest
import torch

from ppro.data import Splits, make_splits
from ppro.graph.core import Graph
from ppro.paper.bench import Case
from ppro.paper.bench.cases import MODELS, bench_graph
from ppro.paper.bench.peer import DOCUMENTED, FORMS, Peer, PeerForm, forms_for, make_peers
from ppro.settings.settings import Settings
from ppro.training.assembly import build_model

CPU = torch.device("cpu")
EAGER = [form for form in FORMS if not form.compiled]


@pytest.fixture(scope="module")
def sparse() -> tuple[Graph, Splits]:
    """The digits, of whose pixels half are dark, with features as a sparse matrix."""
    graph = bench_graph("digits")[0]
    found = replace(graph, features=graph.features.to_sparse_csr())
    return found, make_splits(found, "digits", "random-60-20-20", 1, 0)


def settings_of(model: str, form: str | None = None) -> Settings:
    case = Case("digits", form, 2, "none", model=model)  # type: ignore[arg-type]
    return case.settings()[0].replace(feature_norm="none")


@pytest.mark.parametrize(
    ("model", "form"), [("ppro", "hidden"), ("ppro", "class"), *((m, None) for m in MODELS)]
)
def test_every_form_is_the_same_network_and_learns(
    model: str, form: str | None, sparse: tuple[Graph, Splits]
) -> None:
    graph, splits = sparse
    made = []
    for peer_form in EAGER:
        torch.manual_seed(0)
        made.append(Peer(graph, splits, settings_of(model, form), CPU, peer_form))
    outputs = [peer.net.eval()(peer.x, peer.graph) for peer in made]
    for other in outputs[1:]:
        torch.testing.assert_close(other, outputs[0], rtol=1e-4, atol=1e-5)
    peer = made[-1]
    for _ in range(60):
        peer.epoch()
    guess = peer.net.eval()(peer.x, peer.graph).argmax(-1)
    assert float((guess == peer.y)[splits.test[0]].float().mean()) > 0.8


@pytest.mark.parametrize("model", list(MODELS))
def test_ours_and_the_peer_learn_as_many_numbers(model: str, sparse: tuple[Graph, Splits]) -> None:
    graph, splits = sparse
    settings = settings_of(model)
    peer = Peer(graph, splits, settings, CPU)
    ours = build_model(graph.num_features, graph.num_classes, [settings], CPU)
    counts = [sum(p.numel() for p in net.parameters()) for net in (ours, peer.net)]
    assert counts[0] == counts[1]


def test_forms_depend_on_the_graph_and_the_device(sparse: tuple[Graph, Splits]) -> None:
    names = [form.name for form in forms_for(sparse[0], CPU, compiled=True)]
    assert "sparse X" in names
    assert "compiled" in names
    dense = forms_for(bench_graph("digits")[0], CPU, compiled=False)
    assert [form.name for form in dense] == ["documented", "cached", "CSR"]
    on_gpu = forms_for(sparse[0], torch.device("cuda"), compiled=True)
    assert [form for form in FORMS if not form.compiled] == on_gpu


def test_a_form_that_does_not_work_here_says_why(
    sparse: tuple[Graph, Splits], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_compiler(*args: object, **options: object) -> None:
        raise RuntimeError("no C++ compiler\nmore lines")

    monkeypatch.setattr(torch, "compile", no_compiler)
    forms = [DOCUMENTED, PeerForm("compiled", compiled=True)]
    made, skipped = make_peers(*sparse, settings_of("gcn"), CPU, forms)
    assert list(made) == ["documented"]
    assert skipped == {"compiled": "RuntimeError: no C++ compiler"}
