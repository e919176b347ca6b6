"""The document: a text with its provenance, and its form on disk."""

import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from typing import Any

from firth.corpus.documents.example import Example, FeatureError, text_of
from firth.corpus.documents.hashing import digest
from firth.segmentation.words import count_words

FIELDS = ("id", "text", "source", "licence", "uri")
METADATA = "metadata"
# Feature of the metadata. Examples of other components may have a feature `metadata`.
_METADATA = "metadata_json"
# Memory of the document itself, without its text.
DOCUMENT_BYTES = 2**9
OWN_ID = re.compile("[0-9a-f]{32}")
# Number of an id's bytes that depend on the id that the record states.
_HALF = 8


@dataclasses.dataclass(frozen=True)
class Document:
    """A text with its provenance.

    Attributes:
        id: 32 hexadecimal digits that are unique to the document: a hash of the source and of the text's
            place in it, as `document_id` returns it.
        text: The text itself.
        source: Name of the source in the recipe.
        licence: Licence of the text, in the words of the source's owner.
        uri: Address of the text: the URL of a web page; otherwise a path, followed by `#L12` for its first
            line or `#R12` for its record where a file holds several documents; or
            `docstring:package/qualified.name`.
        metadata: JSON object of the record's values under the keys that the recipe names; empty if it names
            none.

    Example:

    >>> document = Document(document_id("books", "a.txt"), "Call me Ishmael.", "books", "CC0", "a.txt")
    >>> Document.from_example(document.to_example()) == document
    True
    """

    id: str
    text: str
    source: str
    licence: str
    uri: str
    metadata: str = dataclasses.field(default="", repr=False)

    @property
    def size(self) -> int:
        """The length of the text in bytes of UTF-8."""
        return len(self.text) if self.text.isascii() else len(self.text.encode("utf-8"))

    @property
    def held_bytes(self) -> int:
        """An estimate of the memory that the document takes, in bytes."""
        return len(self.text) + len(self.metadata) + DOCUMENT_BYTES

    @functools.cached_property
    def words(self) -> int:
        """The number of words, as `firth.segmentation` finds them.

        It is counted once and kept, since every step reports it.
        """
        return count_words(self.text)

    def with_text(self, text: str) -> "Document":
        """Returns a copy of this document with another text, or the document itself if the text is the same.

        Args:
            text: The new text.
        """
        return self if text == self.text else dataclasses.replace(self, text=text)

    def with_metadata(self, values: Mapping[str, Any]) -> "Document":
        """Returns a copy of this document with further metadata, or the document itself without any.

        Args:
            values: The metadata by their keys.

        Example:

        >>> Document("1f", "Hi.", "web", "CC0", "a.txt", '{"a": 1}').with_metadata({"b": 2}).metadata
        '{"a": 1, "b": 2}'
        """
        if not values:
            return self
        stated = json.loads(self.metadata) if self.metadata else {}
        return dataclasses.replace(self, metadata=json.dumps({**stated, **values}, ensure_ascii=False))

    def to_example(self) -> bytes:
        """Returns the document as a serialized `tf.train.Example`, with one bytes feature for each field."""
        example = Example()
        for name in FIELDS:
            example.features.feature[name].bytes_list.value.append(getattr(self, name).encode("utf-8"))
        if self.metadata:
            example.features.feature[_METADATA].bytes_list.value.append(self.metadata.encode("utf-8"))
        return example.SerializeToString(deterministic=True)

    @classmethod
    def from_example(cls, record: bytes) -> "Document":
        """Returns the document that `to_example` serialized, or another component wrote.

        An id that is not one of ours becomes a hash of the source and the id.

        Args:
            record: A serialized `tf.train.Example`.

        Raises:
            FeatureError: if a field is missing; the message names it and the fields that are there.
        """
        features = Example.FromString(record).features.feature
        missing = [name for name in FIELDS if name not in features]
        if missing:
            raise FeatureError(
                f"the record is not a document: it has no {', '.join(missing)}, only {sorted(features)}"
            )
        found = {name: text_of(name, features[name]) for name in FIELDS}
        if _METADATA in features:
            found[METADATA] = text_of(_METADATA, features[_METADATA])
        if not OWN_ID.fullmatch(found["id"]):
            found["id"] = digest(found["source"], "stated", found["id"]).hex()
        return cls(**found)


def document_id(source: str, place: str, stated: str = "") -> str:
    """Returns the id of the document at one place of a source.

    Several records of a source may state the same id, so that the stated id is not enough to tell two
    documents apart. The first half of a document's id is a hash of the stated id, the second half a hash of
    the place.

    Example:

    >>> document_id("books", "a.txt")
    'c99977e021a0f9fdbda9cb8ce64fb860'
    >>> document_id("web", "a.jsonl#L1", "17"), document_id("web", "a.jsonl#L2", "17")
    ('...', '...')
    """
    placed = digest(source, place)
    return (digest(source, "stated", stated)[:_HALF] + placed[_HALF:] if stated else placed).hex()
