"""What the module refuses: inputs of another shape or kind than it can learn from."""

from contextlib import suppress
from operator import index

import torch
from torch import Tensor

from ppro.errors import SettingsError

LAYOUTS = (torch.strided, torch.sparse_csr)
"""Those of x."""


def check_sizes(**sizes: int) -> None:
    """Refuse numbers of features and classes that no layer can have.

    Raises:
        SettingsError: one is no whole number from 1.
    """
    for name, size in sizes.items():
        with suppress(TypeError):
            if index(size) > 0:
                continue
        raise SettingsError(f"PPro: {name} = {size!r}; give a whole number from 1")


def check_inputs(
    x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, features: int, dtype: torch.dtype
) -> None:
    """Refuse inputs that are not of the shapes and kinds that the module takes.

    Args:
        features: columns that x must have.
        dtype: that of the weights.

    Raises:
        SettingsError: it says which, and what to give instead.
    """
    _check_tensors(x=x, edge_index=edge_index, edge_weight=edge_weight)
    if x.dim() != 2 or x.shape[1] != features or x.shape[0] == 0:
        raise SettingsError(
            f"x has shape {tuple(x.shape)}; give a row for each node and {features} columns, the "
            "in_channels of the module"
        )
    if x.layout not in LAYOUTS:
        raise SettingsError(f"x has layout {x.layout}; give it dense or as x.to_sparse_csr()")
    if x.dtype != dtype and not (
        x.is_floating_point() and torch.is_autocast_enabled(x.device.type)
    ):
        raise SettingsError(f"x is {x.dtype}, but the weights are {dtype}; give x.to({dtype})")
    kind = edge_index.dtype
    whole = not (kind.is_floating_point or kind.is_complex or kind == torch.bool)
    if edge_index.layout != torch.strided or edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise SettingsError(
            f"edge_index has shape {tuple(edge_index.shape)} and layout {edge_index.layout}; give "
            "sources and targets as a dense [2, E] (of a sparse matrix: A.coalesce().indices())"
        )
    if not whole:
        raise SettingsError(f"edge_index is {kind}; give whole numbers: edge_index.long()")
    if edge_weight is not None and edge_weight.shape != edge_index.shape[1:]:
        raise SettingsError(
            f"edge_weight has shape {tuple(edge_weight.shape)} for {edge_index.shape[1]} edges; "
            "give one number for each"
        )


def _check_tensors(**given: Tensor | None) -> None:
    for name, value in given.items():
        if value is not None and not isinstance(value, Tensor):
            raise SettingsError(f"{name} is {type(value).__name__}; give a tensor of PyTorch")


def check_ends(edge_index: Tensor, num_nodes: int) -> None:
    """Refuse edges of nodes that there are not; it reads all of them.

    Raises:
        SettingsError: it names the first.
    """
    wrong = ((edge_index < 0) | (edge_index >= num_nodes)).any(0)
    if bool(wrong.any()):
        source, target = edge_index[:, wrong][:, 0].tolist()
        raise SettingsError(
            f"an edge joins {source} and {target}, but nodes count from 0 to {num_nodes - 1}; give "
            "edges between the rows of x"
        )


def labels_of_pass(y: Tensor, num_nodes: int, *, usual: bool) -> Tensor:
    """Return the labels of the nodes of a pass, as a criterion takes them.

    Args:
        usual: whether the criterion is the cross entropy of one label for each node; another may
            want labels of any kind.

    Raises:
        SettingsError: they are not those of all nodes, or none that the cross entropy can use.
    """
    _check_tensors(y=y)
    if y.dim() == 0 or y.shape[0] != num_nodes:
        raise SettingsError(
            f"y has shape {tuple(y.shape)} for {num_nodes} nodes; give a label for every node of "
            "the pass, -1 where there is none, and choose among them with mask"
        )
    if not usual:
        return y
    if y.dim() != 1 or y.is_floating_point() or y.dtype == torch.bool:
        raise SettingsError(
            f"y has shape {tuple(y.shape)} of {y.dtype}; give one whole number for each node "
            "(y.squeeze(1), y.long()), or a criterion of your own for such labels"
        )
    return y.long()


def check_mask(mask: object, num_nodes: int) -> None:
    """Refuse masks that are of other nodes, or that would be read as numbers of nodes.

    Raises:
        SettingsError: it says what is wrong.
    """
    if not isinstance(mask, Tensor):
        return
    of_bool = mask.dtype in (torch.bool, torch.uint8)
    if mask.dim() != 1 or (of_bool and mask.shape[0] != num_nodes):
        raise SettingsError(
            f"a mask of shape {tuple(mask.shape)} for {num_nodes} nodes; give True or False for "
            "each, or the numbers of some"
        )
    if mask.is_floating_point():
        raise SettingsError(f"a mask of {mask.dtype}; give True or False for each node: mask > 0")
    if not of_bool and mask.shape[0] == num_nodes > 2 and int(mask.max()) <= 1:
        raise SettingsError(
            f"a mask of {mask.dtype} with nothing but 0 and 1 would mean the nodes 0 and 1; give "
            "mask.bool()"
        )
