"""Columns of text as features: one for each word that several nodes have."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp

_WORD = re.compile(r"\w\w+")
SEVERAL = 2.0
"""Words that the texts of a column have on average, at least, where they are more than names."""
FEWEST, MOST = 2, 0.5
"""Nodes that must have a word, and the share of those with a text that may."""


def words_of(text: str) -> set[str]:
    """Return the words of a text, each once: letters, digits and underscores, two or more."""
    return set(_WORD.findall(text.casefold()))


def is_of_several_words(texts: Iterable[str]) -> bool:
    """Tell whether texts have several words on average."""
    counts = [len(_WORD.findall(text)) for text in texts]
    return bool(counts) and sum(counts) >= SEVERAL * len(counts)


def telling_words(texts: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the words that become features: the most frequent of those that tell nodes apart.

    Args:
        most: how many, at most.
    """
    known = [words for text in texts if (words := words_of(text))]
    counts = Counter(word for words in known for word in words)
    largest = max(FEWEST, MOST * len(known))
    telling = [word for word, count in counts.items() if FEWEST <= count <= largest]
    return tuple(sorted(sorted(telling, key=lambda word: (-counts[word], word))[:most]))


def bag_of_words(words: Sequence[str], texts: Sequence[str]) -> tuple[sp.csr_matrix, int]:
    """Return 1 where a text has a word, and how many texts have none of the words at all.

    Returns:
        A matrix of shape ``[n, len(words)]``, and a number that leaves empty texts out.
    """
    place = {word: i for i, word in enumerate(words)}
    rows = [sorted(place[word] for word in words_of(text) if word in place) for text in texts]
    starts = np.cumsum([0, *map(len, rows)])
    columns = np.array([i for row in rows for i in row], dtype=np.int64)
    values = np.ones(len(columns), dtype=np.float32)
    found = sp.csr_matrix((values, columns, starts), shape=(len(rows), len(place)))
    strange = sum(not row and bool(text) for row, text in zip(rows, texts, strict=True))
    return found, strange
