"""The document: text with its provenance, and its form on disk."""

import dataclasses
import functools

from firth.corpus.documents.example import Example
from firth.corpus.documents.hashing import digest

FIELDS = ("id", "text", "source", "licence", "uri")
# A share for the document itself, next to its text.
DOCUMENT_BYTES = 2**9
# Bytes of an id that depend on what the record states.
_HALF = 8


@dataclasses.dataclass(frozen=True)
class Document:
    """A text, and where it comes from.

    Attributes:
        id: 32 hexadecimal digits, a hash of the source and of the text's place in it (`document_id`). No
            other document has it.
        text: What the document says.
        source: Name of the source in the recipe.
        licence: As the source's owner states it.
        uri: Where the text comes from: the address of a web page; otherwise a path, with `#L12` for its first
            line or `#R12` for its record where a file holds several documents, or
            `docstring:package/qualified.name`.

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

    @property
    def size(self) -> int:
        """Bytes of the text in UTF-8."""
        return len(self.text) if self.text.isascii() else len(self.text.encode("utf-8"))

    @property
    def held_bytes(self) -> int:
        """About what it takes in memory."""
        return len(self.text) + DOCUMENT_BYTES

    @functools.cached_property
    def words(self) -> int:
        """Runs of characters that are no spaces, counted once: every step reports them."""
        return len(self.text.split())

    def with_text(self, text: str) -> "Document":
        """Returns this document with another text."""
        return self if text == self.text else dataclasses.replace(self, text=text)

    def to_example(self) -> bytes:
        """Returns a serialized tf.train.Example with one bytes feature a field."""
        example = Example()
        for name in FIELDS:
            example.features.feature[name].bytes_list.value.append(getattr(self, name).encode("utf-8"))
        return example.SerializeToString(deterministic=True)

    @classmethod
    def from_example(cls, record: bytes) -> "Document":
        """Returns the document that `to_example` serialized.

        Raises:
            ValueError: if a field is missing.
        """
        features = Example.FromString(record).features.feature
        missing = [name for name in FIELDS if name not in features]
        if missing:
            raise ValueError(f"no document: the record has no {', '.join(missing)}, only {sorted(features)}")
        return cls(*(features[name].bytes_list.value[0].decode("utf-8") for name in FIELDS))


def document_id(source: str, place: str, stated: str = "") -> str:
    """Returns the id of the document that stands at a place of a source.

    Records of one source may state the same id, so that the id alone tells no document from another. The
    first half of a document's id is a hash of what it states, the second of its place.

    Args:
        source: Its name.
        place: No other document of the source has it.
        stated: The id that the record states, if it states one.

    Example:

    >>> document_id("books", "a.txt")
    'c99977e021a0f9fdbda9cb8ce64fb860'
    >>> document_id("web", "a.jsonl#L1", "17"), document_id("web", "a.jsonl#L2", "17")
    ('...', '...')
    """
    placed = digest(source, place)
    return (digest(source, "stated", stated)[:_HALF] + placed[_HALF:] if stated else placed).hex()
