"""How documents go between Beam's workers, and what tells Beam their size without encoding them."""

import pickle
from operator import attrgetter
from typing import Any

from apache_beam import coders

from firth.corpus.documents.document import FIELDS, Document

VALUE_BYTES = 2**9
as_row = attrgetter(*FIELDS)


class DocumentCoder(coders.Coder):
    """Documents as plain tuples.

    Beam asks for the size of the first elements of every bundle, and of some later ones. Where a coder knows
    none, it encodes them, which here would take longer than many a step.

    Example:

    >>> coder = DocumentCoder()
    >>> coder.decode(coder.encode(Document("1", "Hi.", "docs", "CC0", "a.txt"))).text
    'Hi.'
    """

    def encode(self, value: Document) -> bytes:  # noqa: D102
        return pickle.dumps(as_row(value), pickle.HIGHEST_PROTOCOL)

    def decode(self, encoded: bytes) -> Document:  # noqa: D102
        return Document(*pickle.loads(encoded))

    def estimate_size(self, value: Document) -> int:  # noqa: D102
        return value.held_bytes

    def is_deterministic(self) -> bool:  # noqa: D102
        return True


class Unmeasured:
    """The type that Beam sees for values that seldom leave a worker. Beam does not measure their size."""


class UnmeasuredCoder(coders.Coder):
    """Any values, all of one size."""

    def encode(self, value: Any) -> bytes:  # noqa: D102
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)

    def decode(self, encoded: bytes) -> Any:  # noqa: D102
        return pickle.loads(encoded)

    def estimate_size(self, value: Any) -> int:  # noqa: D102
        return VALUE_BYTES

    def is_deterministic(self) -> bool:  # noqa: D102
        return False


coders.registry.register_coder(Document, DocumentCoder)
coders.registry.register_coder(Unmeasured, UnmeasuredCoder)
