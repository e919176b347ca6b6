"""Tries of tokens: the states after all tokens at once, where an automaton has too many sets of them."""

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from firth.constraints.token_bytes import TokenBytes


class Depth(NamedTuple):
    """The beginnings of tokens that have as many bytes.

    Attributes:
        parents: Place of each one's beginning among those of a byte less, int32 [nodes].
        last_bytes: Its last byte, uint8 [nodes].
    """

    parents: npt.NDArray[np.int32]
    last_bytes: npt.NDArray[np.uint8]


class TokenTrie(NamedTuple):
    """Tokens by their bytes. Beginnings that tokens share are followed once.

    Attributes:
        depths: Beginnings of one byte, of two bytes and so on.
        nodes: Place of each token among all beginnings, in the order of `depths`, after the empty one at 0;
            of rows that are never let through as many as there are beginnings, int32 [rows].
    """

    depths: tuple[Depth, ...]
    nodes: npt.NDArray[np.int32]


@functools.lru_cache(2)
def token_trie(tokens: TokenBytes) -> TokenTrie:
    """Returns the trie of the tokens of a vocabulary.

    Args:
        tokens: Bytes of the tokens.

    Example:

    >>> made = token_trie(TokenBytes((b"a", b"ab", None, b"b"), 2))
    >>> [(each.parents.tolist(), bytes(each.last_bytes)) for each in made.depths], made.nodes.tolist()
    ([([0, 0], b'ab'), ([0], b'b')], [1, 3, 4, 2])
    """
    known = [text for text in tokens.texts if text is not None]
    depths, found = [], {b"": 0}
    first, before = 0, {b"": 0}
    for size in range(1, max(map(len, known), default=0) + 1):
        own = sorted({text[:size] for text in known if len(text) >= size})
        places = {text: place for place, text in enumerate(own)}
        parents = np.array([before[text[:-1]] for text in own], np.int32)
        depths.append(Depth(parents, np.array([text[-1] for text in own], np.uint8)))
        first += len(before)
        found |= {text: first + place for text, place in places.items()}
        before = places
        known = [text for text in known if len(text) >= size]
    nodes = [len(found) if text is None else found[text] for text in tokens.texts]
    return TokenTrie(tuple(depths), np.array(nodes, np.int32))
