"""Where a corpus comes from: the kinds of source a recipe may name."""

from typing import Annotated, Literal

import pydantic

from firth.recipes.base import Config

Paths = Annotated[tuple[str, ...], pydantic.Field(min_length=1)]
SourceName = Annotated[str, pydantic.Field(pattern=r"^[A-Za-z0-9_.-]+$")]


class Source(Config):
    """What every source states.

    Attributes:
        name: Stands in every document's provenance, in the report's rows and in the evaluation's slices.
        licence: The licence of the text, as its owner states it.
        max_document_bytes: A document (or a line of JSON) longer than this is rejected and counted.
    """

    name: SourceName
    licence: str = "unknown"
    max_document_bytes: int = pydantic.Field(default=2**24, gt=0)


class TextSource(Source):
    """Plain text files, optionally gzipped, one document a file or one between two blank lines."""

    kind: Literal["text"]
    name: SourceName = "text"
    paths: Paths
    documents: Literal["file", "blank_line"] = "file"


class JsonlSource(Source):
    """Files of one JSON object a line, optionally gzipped; the text stands under `text_key`."""

    kind: Literal["jsonl"]
    name: SourceName = "jsonl"
    paths: Paths
    text_key: str = "text"


class DocstringsSource(Source):
    """The docstrings of installed packages and of the standard library, read without importing them."""

    kind: Literal["docstrings"]
    name: SourceName = "docstrings"
    packages: tuple[str, ...] = ()
    standard_library: bool = True
    licence: str = "as each package states"

    @pydantic.model_validator(mode="after")
    def _names_something(self):
        if not self.packages and not self.standard_library:
            raise ValueError("name at least one package, or set standard_library: true")
        return self


AnySource = Annotated[TextSource | JsonlSource | DocstringsSource, pydantic.Field(discriminator="kind")]
