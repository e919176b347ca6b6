"""Coders for documents that Beam sends between workers."""

import pickle
from operator import attrgetter
from typing import Any

from apache_beam import coders

from firth.corpus.documents.document import FIELDS, METADATA, Document

VALUE_BYTES = 2**9
as_row = attrgetter(*FIELDS, METADATA)


class DocumentCoder(coders.Coder):
    """Encodes documents as pickled tuples of their fields.

    Beam estimates the size of the first elements of every bundle and of a sample of the later ones. By
    default it encodes the element for that, which would take longer than many of the steps.

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
    """Type hint for values that rarely leave a worker, whose size is estimated as `VALUE_BYTES`."""


class UnmeasuredCoder(coders.Coder):
    """Pickles values of any type, and estimates the size of each as `VALUE_BYTES`."""

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
