"""What a user should know before a graph is trained on: labels, weights, settings without use."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ppro.data.splits import Splits
from ppro.graph.core import UNLABELLED, Graph
from ppro.nn.part import Part
from ppro.parts import BACKBONES, RIVALS
from ppro.settings.controllers import OF_COMPARING_FORM, OF_PAPERS_FORM
from ppro.settings.settings import PPRO, Settings

FEW = 3
"""With so few training nodes of a class or fewer, results depend on which nodes they are."""
SHOWN = 3


def cautions(graph: Graph, splits: Splits, settings: Settings) -> list[str]:
    """Return a line about labels that are few or missing, and about what will have no effect."""
    lines = ["; ".join(_of_labels(graph, splits)), _of_weights(graph, settings)]
    return [line for line in (*lines, without_effect(settings)) if line]


def without_effect(settings: Settings) -> str:
    """Return what to say of settings that the form of the controllers has no use for, or ""."""
    if settings.model != PPRO or settings.strategy == "none":
        return ""
    chosen = settings.controllers
    usual = Settings.read({"strategy": settings.strategy, "teaching": chosen.teaching}).controllers
    without_use = OF_PAPERS_FORM if chosen.teaching == "compare" else OF_COMPARING_FORM
    changed = [name for name in without_use if getattr(chosen, name) != getattr(usual, name)]
    if not changed:
        return ""
    other = "paper" if chosen.teaching == "compare" else "compare"
    return (
        f"without effect under teaching={chosen.teaching}, only under {other}: {', '.join(changed)}"
    )


def _of_weights(graph: Graph, settings: Settings) -> str:
    """Return what to say where edges have weights that the network does not look at."""
    if graph.edge_weight is None:
        return ""
    is_ppro = settings.model == PPRO
    name = settings.backbone if is_ppro else settings.model
    part: type[Part] = (BACKBONES if is_ppro else RIVALS).get(name)
    if part.uses_weights:
        return ""
    return f"{name} does not use the weights of the edges; --backbone appnp and gcn do"


def _of_labels(graph: Graph, splits: Splits) -> list[str]:
    """Return what to say of parts that lack classes, each class once."""
    known = _counts(graph, graph.labels != UNLABELLED)[0] > 0
    counts = {part: _counts(graph, getattr(splits, part)) for part in ("train", "val", "test")}
    lines = []
    if bool((splits.train & splits.val).any()):
        return [
            "one label a class at most, and none can be spared to validate: the training nodes "
            "themselves say when to stop, and nothing says how good the result is; label more"
        ]
    if not bool(splits.test.any()):
        lines.append("no node is for testing: only validation says how good the result is")
    untrained = _lacking(graph, counts["train"], known)
    if untrained:
        lines.append(f"without a training node, and hardly ever predicted: {untrained}")
    unseen = {
        title: _lacking(graph, counts[part], known)
        for part, title in (("val", "validation"), ("test", "test"))
        if bool(getattr(splits, part).any())
    }
    lines += [f"without a {title} node: {names}" for title, names in unseen.items() if names]
    least = int(counts["train"][:, known].amin()) if bool(known.any()) else 0
    if 0 < least <= FEW:
        few = (counts["train"] <= FEW).any(0) & known
        nodes = "one training node" if least == 1 else f"{least} training nodes"
        lines.append(
            f"as few as {nodes} in {_names(graph, few)}: results depend on which nodes these are, "
            "so compare several runs or label more"
        )
    return lines


def _counts(graph: Graph, masks: Tensor) -> Tensor:
    """Return how many nodes of each class a mask has. Shape ``[runs, c]``."""
    rows = masks.reshape(-1, masks.shape[-1])
    found = [
        torch.bincount(graph.labels[row], minlength=graph.num_classes) for row in rows.unbind()
    ]
    return torch.stack(found)


def _lacking(graph: Graph, counts: Tensor, known: Tensor) -> str:
    """Return the classes that lack a node in some run, in words; empty where none does."""
    missing = (counts == 0).any(0) & known
    return _names(graph, missing) if bool(missing.any()) else ""


def _names(graph: Graph, which: Tensor) -> str:
    names: Sequence[str] = [graph.class_names[c] for c in which.nonzero().flatten().tolist()]
    shown = ", ".join(name if name.isprintable() else repr(name) for name in names[:SHOWN])
    if len(names) == 1:
        return f"class {shown}"
    rest = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return f"{len(names):,} of {graph.num_classes:,} classes ({shown}{rest})"
