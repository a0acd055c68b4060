"""Labels and splits from the columns of a table of nodes."""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ppro.data.files.cells import texts
from ppro.data.files.tables import MISSING, arrow
from ppro.data.readers.raw import IntArray, Masks
from ppro.data.splits import hold_out
from ppro.errors import DataError
from ppro.graph.core import UNLABELLED

LONGEST_NUMBER = 100
"""Characters of a text that may be a number; longer ones are names."""
PARTS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("none", *(word.lower() for word in MISSING)), "none"),
}
"""What a split column may say of a node, whatever its case."""
OTHER_PARTS = {
    "holdout",
    "hold-out",
    "hold_out",
    "heldout",
    "held-out",
    "eval",
    "evaluation",
    "oof",
}
"""What others say, which may be one part or another."""


def classes_of(path: Path, column: Any) -> tuple[str, ...]:
    """Return the names of the classes: whole numbers by value, others in the order of text."""
    found = [name for name in labels_as_text(column) if name]
    names = set(found)
    if names and all(map(_is_number, names)):
        _check_numbers(path, column)
        ordered = sorted(names, key=int)
    else:
        ordered = sorted(names)
    if len(ordered) < 2:
        has = f"only the class {ordered[0]!r}" if ordered else "no label at all"
        unknown = " (-1 is no class, but a node without a label)" * bool(_unlabelled(column))
        raise DataError(
            f"{path}, column {column.name}: {has}{unknown}; classification needs two classes, so "
            "name another --label or add nodes of another class"
        )
    return tuple(ordered)


def class_codes(column: Any, class_names: Sequence[str]) -> tuple[IntArray, tuple[str, ...]]:
    """Return the class of every node, -1 where it has none, and a note on labels of no class."""
    names = labels_as_text(column)
    index = arrow("pandas").Index(class_names)
    codes = np.asarray(index.get_indexer(np.array(names, dtype=object)), dtype=np.int64)
    strange = sorted({name for name, c in zip(names, codes, strict=True) if name and c < 0})
    if not strange:
        return codes, ()
    told = f"{len(strange)} labels are unknown to the model ({strange[0]!r} …)"
    return codes, (f"column {column.name}: {told}; such nodes are not scored",)


def labels_as_text(column: Any) -> list[str]:
    """Return labels as text; empty where missing or -1, and 2.0 is 2."""
    return ["" if name == str(UNLABELLED) else name for name in _known_labels(column)]


def _unlabelled(column: Any) -> int:
    """Return how many cells are -1, and mean a node without a label."""
    return _known_labels(column).count(str(UNLABELLED))


def _known_labels(column: Any) -> list[str]:
    """Return labels as text; empty where missing, -1 among them, and 2.0 is 2."""
    names = ["" if name in MISSING else name for name in texts(column)]
    if all(_is_number(name) for name in names if name):
        return [_whole(name) for name in names]
    # Beside names the numbers stay as they are, but for the one that means something.
    minus = str(UNLABELLED)
    return [minus if _is_number(name) and _whole(name) == minus else name for name in names]


HELD_OUT = 0.2
"""Share of the training nodes that validates where a split names none for it."""


def says_parts(column: Any) -> tuple[bool, list[str]]:
    """Tell whether a column reads like a split, and which words of it are none of its parts."""
    words = {word.lower(): word for word in texts(column.drop_duplicates())}
    parts = {PARTS.get(word, "other" if word in OTHER_PARTS else "") for word in words}
    other = sorted(words[word] for word in words if word in OTHER_PARTS)
    return "train" in parts and "" not in parts and bool(parts & {"val", "test", "other"}), other


def split_masks(path: Path, column: Any, labels: IntArray) -> tuple[Masks, list[str]]:
    """Return the masks that a split column states, for a single run, and notes on them.

    Where no node is to validate, a share of the training nodes does.
    """
    parts = [PARTS.get(word.lower(), "") for word in texts(column)]
    for row, part in enumerate(parts):
        where = f"{path}, row {row + 1}, column {column.name}"
        if not part:
            word = str(column.iloc[row])
            raise DataError(f"{where}: {word!r} is no part; use train, val, test or none")
        if part != "none" and labels[row] == UNLABELLED:
            raise DataError(f"{where}: {part}, but the node has no label; label it or write none")
    masks = {
        name: np.array([[part == name for part in parts]]) for name in ("train", "val", "test")
    }
    where = f"{path}, column {column.name}"
    if not masks["train"].any():
        raise DataError(f"{where}: no node is train; mark some as train")
    if masks["val"].any():
        return Masks(masks["train"], masks["val"], masks["test"]), []
    known = torch.from_numpy(labels), torch.from_numpy(masks["train"][0])
    try:
        held = hold_out(*known, seed=0, share=HELD_OUT).numpy()[None]
    except DataError:
        raise DataError(
            f"{where}: no node is val, and no class has a second training node to spare; mark some "
            "as val, or label more"
        ) from None
    told = f"{where}: no node is val, so {held.sum()} of the training nodes validate"
    return Masks(masks["train"] & ~held, held, masks["test"]), [told]


def _is_number(text: str) -> bool:
    # Python reads 1_11 and 11_1 as the same number; in a table they are two names.
    if "_" in text or len(text) > LONGEST_NUMBER:
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def _whole(text: str) -> str:
    """Return a number without an idle decimal part."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    # Not through a float, which tells whole numbers above 2^53 no longer apart.
    is_whole = value.is_finite() and value.adjusted() < LONGEST_NUMBER and value == int(value)
    return str(int(value)) if is_whole else text


def _check_numbers(path: Path, column: Any) -> None:
    for row, name in enumerate(labels_as_text(column), start=1):
        if not name:
            continue
        where = f"{path}, row {row}, column {column.name}: label {name}"
        if not name.lstrip("-").isdigit():
            raise DataError(
                f"{where} is not a class; use names or whole numbers, or bin the values"
            )
        if int(name) < UNLABELLED:
            raise DataError(f"{where} is negative; classes count from 0, and -1 means no label")


FEW = 5
"""Nodes that a value of a column has on average, at least, where it may stand for a class."""


def label_copies(frame: Any, names: Sequence[str], label: str) -> list[str]:
    """Return a note on each column that may be the label in other words.

    Each of its values has nodes of a single class, several of them on average, of the most common
    class and of the others.
    """
    classes = arrow("pandas").Series(labels_as_text(frame[label]), index=frame.index)
    known = classes != ""
    classes, notes = classes[known], list[str]()
    common = classes.mode()[0]
    others = int((classes != common).sum())
    for name in names:
        values = frame.loc[known, name]
        different = values.nunique(dropna=False)
        if different < 2 or len(classes) < FEW * different:
            continue
        pairs = values.to_frame("value").assign(label=classes).drop_duplicates()
        if len(pairs) == different and others >= FEW * int((pairs["label"] != common).sum()):
            told = f"each of its {different:,} values has nodes of one class alone"
            notes.append(
                f"column {name}: {told}; if it is the label in other words, leave it out: "
                "--features names the columns to use"
            )
    return notes


MANY_CLASSES = 50
FEW_NODES = 20
"""Whole numbers are taken for a quantity where they have more values, each with fewer nodes."""
ALONE = 10
"""Up to so many classes may have one labelled node each without a word on it."""
SEPARATORS = "|;,/"
_LIST = re.compile(r"""[][{}()'"]""")
"""What programs write around the labels of a list."""
GAPS = {"?", "-", "none", "unknown", "missing", "unlabelled", "unlabeled", "not available"}
"""Names of classes, in lower case, that may mean a node without a label."""


def label_notes(column: Any, classes: Sequence[str]) -> list[str]:
    """Return what to tell of a label column that does not look like one class for each node."""
    found = [name for name in labels_as_text(column) if name]
    told = [
        _like_several_labels(found) or _like_a_quantity(found, classes),
        _like_unlabelled(_unlabelled(column)),
        _like_gaps(found, classes),
        _like_one_class(classes),
    ]
    return [f"column {column.name}: {line}" for line in told if line]


def _like_unlabelled(count: int) -> str:
    """What to tell where -1 may be meant as a class."""
    if not count:
        return ""
    return f"{count:,} cells of -1 are taken for nodes without a label; if -1 is a class, rename it"


def _like_gaps(found: Sequence[str], classes: Sequence[str]) -> str:
    """What to tell where a class is called as people call what they do not know."""
    odd = [name for name in classes if name.lower() in GAPS]
    if not odd:
        return ""
    return (
        f"{found.count(odd[0]):,} nodes are of a class {odd[0]!r}; if that means that their class "
        "is not known, empty these cells"
    )


def _like_one_class(classes: Sequence[str]) -> str:
    """What to tell where two classes may be meant as one."""
    seen: dict[str, str] = {}
    for name in classes:
        other = seen.setdefault(" ".join(name.casefold().split()), name)
        if other != name:
            what = "case" if other.casefold() == name.casefold() else "spaces"
            return f"classes {other!r} and {name!r} differ in {what} alone and count as two"
    return ""


def _like_several_labels(found: Sequence[str]) -> str:
    """What to tell where labels are made of others: A, B, and A|B or ['A', 'B'] for both."""
    bare = {name: _LIST.sub("", name) for name in set(found)}
    names = set(bare.values())
    for sign in SEPARATORS:
        joined = {name for name in names if sign in name}
        parts = {part.strip() for name in joined for part in name.split(sign)}
        # Names with a comma in them are not made of other names, nor of parts that come again.
        again = len(joined) > 1 and len(parts) < len(joined | (names & parts))
        if again or (joined and parts <= names):
            example = max((name for name in bare if sign in bare[name]), key=found.count)
            return (
                f"looks like several labels a node ({example!r}), and each combination counts as "
                "a class of its own; keep one label a node, or train once for each label with a "
                "column of yes and no"
            )
    return ""


def _like_a_quantity(found: Sequence[str], classes: Sequence[str]) -> str:
    """What to tell where there are nearly as many classes as nodes."""
    is_many = len(classes) > MANY_CLASSES and len(found) < FEW_NODES * len(classes)
    if not is_many and not ALONE < len(classes) == len(found):
        return ""
    many = f"{len(classes):,} different values for {len(found):,} labelled nodes"
    if all(map(_is_number, classes)):
        return (
            f"{many} look like regression, and PPro classifies; put the numbers into a few "
            "ranges first, such as with pandas.qcut, or name another --label"
        )
    return f"{many}: hardly any class can be learned; name another --label, or join rare classes"
