"""Sources as one JSON text, fit to be an execution property."""

from collections.abc import Sequence

import pydantic

from firth.recipes.corpus.sources import AnySource

_SOURCES = pydantic.TypeAdapter(tuple[AnySource, ...])


def sources_to_json(sources: Sequence[AnySource]) -> str:
    """Returns the sources as a JSON array."""
    return _SOURCES.dump_json(tuple(sources)).decode("utf-8")


def sources_from_json(text: str) -> tuple[AnySource, ...]:
    """Returns the sources that `sources_to_json` wrote.

    Raises:
        pydantic.ValidationError: if the text does not describe sources.

    Example:

    >>> from firth.recipes.corpus.sources import TextSource
    >>> sources = (TextSource(kind="text", paths=("books/*.txt",)),)
    >>> sources_from_json(sources_to_json(sources)) == sources
    True
    """
    return _SOURCES.validate_json(text)
