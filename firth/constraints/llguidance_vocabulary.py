"""Vocabularies in the form that llguidance reads."""

import functools
from collections.abc import Sequence
from typing import Any

from firth.constraints.matcher import ConstraintError
from firth.constraints.token_bytes import TokenBytes
from firth.lazy import import_extra


@functools.lru_cache(1)
def llguidance() -> Any:
    """Returns the package llguidance.

    Raises:
        ConstraintError: without the extra `structured`.
    """
    (library,) = import_extra(ConstraintError, "structured", "llguidance")
    return library


class _Vocabulary:
    """A vocabulary in the form that llguidance reads."""

    bos_token_id = None

    def __init__(self, tokens: TokenBytes) -> None:
        self.eos_token_id = tokens.end_id
        texts = set(tokens.texts)
        # llguidance reads bytes that a constraint forces as tokens, whether a token has them alone or not.
        # Rows after those of the model do, and are never let through.
        self.missing = [each for each in map(bytes, zip(range(256))) if each not in texts]
        rows = (*tokens.texts, *self.missing)
        self.tokens = [b"<%d>" % row if text is None else text for row, text in enumerate(rows)]
        self.special_token_ids = [row for row, text in enumerate(rows) if text is None]
        self._ids = {text: row for row, text in enumerate(rows) if text is not None}
        self._longest = max(map(len, self._ids), default=0)

    def __call__(self, text: bytes | str) -> list[int]:
        """Returns the tokens of a stretch that llguidance forces: at each place the longest."""
        rest, ids = text.encode() if isinstance(text, str) else text, []
        while rest:
            sizes = range(min(self._longest, len(rest)), 0, -1)
            size = next(size for size in sizes if rest[:size] in self._ids)
            ids.append(self._ids[rest[:size]])
            rest = rest[size:]
        return ids


@functools.lru_cache(8)
def llguidance_tokenizer(tokens: TokenBytes) -> tuple[Any, Sequence[bytes]]:
    """Returns the tokenizer of llguidance, and the bytes of its rows that the model does not have."""
    vocabulary = _Vocabulary(tokens)
    library = llguidance()
    made = library.LLTokenizer(library.TokenizerWrapper(vocabulary), n_vocab=len(vocabulary.tokens))
    return made, vocabulary.missing
