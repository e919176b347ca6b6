"""The fields of a document in the files that others read."""

from firth.corpus.documents.document import Document
from firth.corpus.text.web_addresses import host_of

# Their order in the files.
FIELDS = ("text", "id", "source", "url", "licence", "provenance", "split")
# Of a corpus whose sources keep metadata, it follows them.
METADATA = "metadata"


def output_row(document: Document, split: str, keeps_metadata: bool = False) -> dict[str, str | None]:
    """Returns the fields of a document: strings, and `url` None for a document that is not from the web.

    Example:

    >>> page, book = (Document("1f", "Hi.", "web", "CC0", uri) for uri in ("https://a.org/b", "a.txt"))
    >>> output_row(page, "train")["url"], output_row(book, "train")["url"]
    ('https://a.org/b', None)
    """
    further = {METADATA: document.metadata or None} if keeps_metadata else {}
    return {
        "text": document.text,
        "id": document.id,
        "source": document.source,
        "url": document.uri if host_of(document.uri) else None,
        "licence": document.licence,
        "provenance": document.uri,
        "split": split,
        **further,
    }
