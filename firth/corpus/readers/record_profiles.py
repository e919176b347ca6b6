"""Profiles of records by category and size, so that statistics of a source hold no text."""

from firth.corpus.documents.document import Document
from firth.corpus.documents.example import Example
from firth.corpus.documents.rejection import Rejection
from firth.recipes.base.size_units import BYTES, WORDS
from firth.recipes.corpus.sources import AnySource

OUTCOME, READ_AS_DOCUMENT = "outcome", "document"
STATED, NOT_STATED = "stated", "not_stated"


def profile(source: AnySource, path: str, record: Document | Rejection) -> bytes:
    """Returns the profile of a record as a serialized tf.train.Example, with features named after the source.

    `<source>/outcome` is `document` or the reason of rejection, which shows a missing key or a changed type.
    `<source>/uri` and `<source>/licence` are `stated` or `not_stated`, if the recipe names a key for them.
    `<source>/bytes` and `<source>/words`, int64, are the sizes of a document's text.

    Example:

    >>> from firth.recipes.corpus.sources import JsonlSource
    >>> source = JsonlSource(kind="jsonl", name="web", paths=("*",), uri_key="url")
    >>> document = Document("1a", "Call me Ishmael.", "web", "CC0", "a.jsonl#L1")
    >>> features = Example.FromString(profile(source, "a.jsonl", document)).features.feature
    >>> [(name, features[name].bytes_list.value[0]) for name in ("web/outcome", "web/uri")]
    [('web/outcome', b'document'), ('web/uri', b'not_stated')]
    >>> features["web/words"].int64_list.value[0]
    3
    """
    example = Example()
    features = example.features.feature
    categories = _categories(source, path, record)
    for name, category in categories.items():
        features[f"{source.name}/{name}"].bytes_list.value.append(category.encode("utf-8"))
    if isinstance(record, Document):
        features[f"{source.name}/{BYTES}"].int64_list.value.append(record.size)
        features[f"{source.name}/{WORDS}"].int64_list.value.append(record.words)
    return example.SerializeToString(deterministic=True)


def _categories(source: AnySource, path: str, record: Document | Rejection) -> dict[str, str]:
    if isinstance(record, Rejection):
        return {OUTCOME: record.reason}
    stated = stated_fields(source, path, record)
    return {
        OUTCOME: READ_AS_DOCUMENT,
        **{name: STATED if is_so else NOT_STATED for name, is_so in stated.items()},
    }


def stated_fields(source: AnySource, path: str, document: Document) -> dict[str, bool]:
    """Returns whether a record stated its own `uri` and `licence`, for each with a key in the recipe."""
    is_own = {
        "uri": not document.uri.startswith(f"{path}#"),
        "licence": document.licence != source.licence,
    }
    return {name: is_so for name, is_so in is_own.items() if name in source.states}
