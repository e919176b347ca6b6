"""Where a corpus comes from: the kinds of source a recipe may name."""

import codecs
import difflib
import encodings.aliases
from typing import Annotated, ClassVar, Literal, get_args

import pydantic

from firth.recipes.base.file_names import PATTERN, below_folder
from firth.recipes.base.recipe_type import Config
from firth.recipes.base.size_units import size_features

Paths = Annotated[tuple[str, ...], pydantic.Field(min_length=1), PATTERN]
# Endings of files that are decompressed while they are read.
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst", ".lz4")
UTF_8, GUESSED = "utf-8", "auto"
SourceName = Annotated[str, pydantic.Field(pattern=r"^[A-Za-z0-9_.-]+$")]


class SourceSample(Config):
    """A random part of a source: a share of its documents, or a number of them.

    A document belongs to it by a hash of the seed and of its id. A sample therefore stays the same when other
    sources change, and a larger one of the same seed holds the smaller one.
    """

    fraction: float | None = pydantic.Field(default=None, gt=0.0, lt=1.0)
    """Expected share of the documents."""
    documents: int | None = pydantic.Field(default=None, ge=1, le=1_000_000)
    """Number of documents, or all of a source that has fewer. One worker holds them."""
    seed: int = pydantic.Field(default=0, ge=0, lt=2**31)
    """Seed of the hash."""

    @pydantic.model_validator(mode="after")
    def _states_one_size(self) -> "SourceSample":
        if (self.fraction is None) == (self.documents is None):
            raise ValueError("give a fraction or a number of documents, and not both")
        return self


class Source(Config):
    """Base of the kinds of source."""

    endings: ClassVar[tuple[str, ...]] = ()
    installed_packages: ClassVar[tuple[str, ...]] = ()
    """Names of packages that must be installed where it is read."""
    documents_are_files: ClassVar[bool] = False
    """True if each of its files is one document."""
    keeps_metadata: ClassVar[bool] = False
    """True if documents have what records state under further keys."""
    keeps_read: ClassVar[bool] = False
    """True if what is read of each file is kept for other runs."""
    trusts_buckets: ClassVar[bool] = False
    """True if checksums that a bucket keeps tell that a file has changed."""
    states: ClassVar[frozenset[str]] = frozenset()
    """Facts that its records state at keys which the recipe names: of `id`, `uri` and `licence`."""
    reads: ClassVar[tuple[str, ...]] = ()
    """Patterns of file names, or packages, that the source reads."""

    name: SourceName
    """Name in every document's provenance, in the report's rows and in the evaluation's slices."""
    licence: str = "unknown"
    """Licence of the text, as its owner states it."""
    max_document_bytes: int = pydantic.Field(default=2**24, gt=0, lt=2**31)
    """Most bytes of a document (or of a line of JSON); a longer one is rejected and counted."""
    sample: SourceSample | None = None
    """Random part of the documents that is read on; the rest is counted as `not_sampled`. Without it, all
    documents."""

    @property
    def compared_features(self) -> tuple[str, ...]:
        """The features of its records that two sets of records can be compared by."""
        stated = (name for name in ("uri", "licence") if name in self.states)
        categories = (f"{self.name}/{name}" for name in ("outcome", *stated))
        return (*categories, *size_features([self.name]))

    @property
    def places(self) -> tuple[str, ...]:
        """The places that the corpus report shows."""
        return self.reads


class FileSource(Source):
    """A source of files. Files in gzip, bz2, xz, zstandard or lz4 are decompressed, except Parquet's.

    The content tells the compression, whatever the name. One worker reads a file, so many files are better
    than one large one.
    """

    paths: Paths
    """Patterns of file names, on any file system that Beam reads; `/**/` matches any folders, or none.
    In a pipeline `{SPAN}`, `{VERSION}`, `{YYYY}`, `{MM}` and `{DD}` stand for the newest numbers that
    there are."""
    digests: Literal["content", "bucket"] = "content"
    """Sign that a file has changed: its `content`, which is read once and again when the file's size or
    time changes; or the checksum that a `bucket` keeps, for which nothing is read. Files on this machine are
    recognised by their content either way."""
    keep_read: bool = False
    """True to keep what is read of each file next to the documents, which takes as much room again: another
    run in the same folder then reads only files that are new or have changed, and one after a kill those that
    were not read to their end."""

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """Patterns of file names."""
        return self.paths

    @property
    def keeps_read(self) -> bool:  # type: ignore[override]
        """True if `keep_read` is."""
        return self.keep_read

    @property
    def trusts_buckets(self) -> bool:  # type: ignore[override]
        """True if `digests` is `bucket`."""
        return self.digests == "bucket"

    @property
    def places(self) -> tuple[str, ...]:
        """Patterns of file names, without the folders that they write out."""
        return tuple(map(below_folder, self.paths))


def _check_encoding(name: str) -> str:
    if name == GUESSED or _is_encoding(name):
        return name
    names = {GUESSED, UTF_8, *filter(_is_encoding, encodings.aliases.aliases)}
    near = difflib.get_close_matches(name, sorted(names), n=1)
    advice = (
        f"did you mean {near[0]}?" if near else "use latin-1, cp1252, utf-16, gb18030 or auto, for example"
    )
    raise ValueError(f"{name!r} is not a character encoding; {advice}")


def _is_encoding(name: str) -> bool:
    try:
        # Codecs of bytes, such as hex, and of the names of hosts are not encodings of texts.
        codecs.getincrementaldecoder(name)("surrogateescape").decode("a\n".encode(name))
    except (AssertionError, LookupError, ValueError):
        return False
    return True


class EncodedSource(FileSource):
    """A source of text in a character encoding."""

    encoding: Annotated[str, pydantic.AfterValidator(_check_encoding)] = UTF_8
    """Character encoding of all files, as Python has it, such as `latin-1`, `cp1252`, `utf-16` or `gb18030`;
    or `auto`, which guesses that of each file and counts the guesses in the corpus report."""


class DescribedSource(FileSource):
    """A source whose records state more than their texts."""

    metadata_keys: tuple[Annotated[str, pydantic.Field(min_length=1)], ...] = ()
    """Names of what is kept of each record as a document's metadata: fields of the record, or of an archive's
    header, such as `WARC-Record-ID` and `WARC-Date`. `offset` is the place of an archive's record in its
    file, in bytes; in a compressed file that of the compressed record, and not stated where records are not
    compressed one by one. It goes through the cleaning, and into the column `metadata` of exports as a JSON
    object."""

    @property
    def keeps_metadata(self) -> bool:  # type: ignore[override]
        """True if `metadata_keys` names any."""
        return bool(self.metadata_keys)


class RecordSource(DescribedSource):
    """A source whose records have named fields."""

    text_key: Annotated[str, pydantic.Field(min_length=1)] = "text"
    """Name of the text's field."""
    id_key: str | None = None
    """Name of the field of the record's id, a string or a number. The document's id is made from it and from
    the record's place, so that records of one id stay documents of their own; the corpus report counts them
    under `repeated_ids`."""
    uri_key: str | None = None
    """Name of the URI's field. Without it, the URI is the record's place."""
    licence_key: str | None = None
    """Name of the field of the record's own licence. A record without one has the source's."""

    @property
    def states(self) -> frozenset[str]:  # type: ignore[override]
        """Those of `id`, `uri` and `licence` whose keys are given."""
        keys = {"id": self.id_key, "uri": self.uri_key, "licence": self.licence_key}
        return frozenset(name for name, key in keys.items() if key)


class PageSource(FileSource):
    """A source of web pages."""

    extractor: Literal["trafilatura", "resiliparse"] = "trafilatura"
    """Package that extracts text from HTML. `trafilatura` leaves out more of what surrounds the text of a
    page; `resiliparse` is many times as fast. `benchmarks/html.py` measures both."""


class TextSource(EncodedSource):
    """Plain text files, one document a file or one between two blank lines."""

    kind: Literal["text"]
    name: SourceName = "text"
    documents: Literal["file", "blank_line"] = "file"
    """Unit of a document: a `file`, or the text between two blank lines, `blank_line`."""

    @property
    def documents_are_files(self) -> bool:  # type: ignore[override]
        """True if `documents` is `file`."""
        return self.documents == "file"


class JsonlSource(EncodedSource, RecordSource):
    """Files of one JSON object a line. A key `metadata.url` is the `url` of the object `metadata`."""

    endings: ClassVar[tuple[str, ...]] = (".jsonl",)

    kind: Literal["jsonl"]
    name: SourceName = "jsonl"


class CsvSource(EncodedSource, RecordSource):
    """Files of separated values whose first line names the columns: a document a row. Keys are columns."""

    endings: ClassVar[tuple[str, ...]] = (".csv", ".tsv")

    kind: Literal["csv"]
    name: SourceName = "csv"
    delimiter: Annotated[str, pydantic.Field(pattern=r'^[^\r\n"\x00]$')] | None = None
    """Character between two fields, a tab by default in a file whose name ends in `.tsv`."""
    quoted: bool = True
    """True if fields may be in quotation marks, and then hold delimiters and line ends."""


class ArrowSource(RecordSource):
    """Arrow files, as `datasets` saves them in a folder: a document a row. The keys are names of columns.

    The files of `Dataset.save_to_disk("FOLDER")` are `FOLDER/data-*.arrow`, those of a `DatasetDict`
    `FOLDER/*/data-*.arrow`.
    """

    endings: ClassVar[tuple[str, ...]] = (".arrow",)

    kind: Literal["arrow"]
    name: SourceName = "arrow"


class ParquetSource(RecordSource):
    """Parquet files: a document a row. The keys are names of columns."""

    endings: ClassVar[tuple[str, ...]] = (".parquet",)

    kind: Literal["parquet"]
    name: SourceName = "parquet"

    @pydantic.model_validator(mode="after")
    def _compressed_inside(self) -> "ParquetSource":
        for path in self.paths:
            if path.endswith(COMPRESSIONS):
                raise ValueError(
                    f"{path!r} cannot be read: Parquet files are compressed inside, not as a whole"
                )
        return self


class TfrecordSource(RecordSource):
    """TFRecord files of tf.train.Examples. The keys are names of features of bytes or integers."""

    endings: ClassVar[tuple[str, ...]] = (".tfrecord",)

    kind: Literal["tfrecord"]
    name: SourceName = "tfrecord"


class HtmlSource(PageSource):
    """HTML files, a page each."""

    endings: ClassVar[tuple[str, ...]] = (".html", ".htm")

    # Always true.
    documents_are_files: ClassVar[bool] = True
    kind: Literal["html"]
    name: SourceName = "html"


class WarcSource(PageSource, DescribedSource):
    """Crawl archives (WARC or ARC): a document for each successful response of HTML or plain text.

    The document's URI is that of the page.
    """

    endings: ClassVar[tuple[str, ...]] = (".arc", ".warc")

    kind: Literal["warc"]
    name: SourceName = "warc"


class WetSource(DescribedSource):
    """The text that Common Crawl extracts from its archives (WET). The document's URI is that of the page."""

    endings: ClassVar[tuple[str, ...]] = (".wet",)

    kind: Literal["wet"]
    name: SourceName = "wet"


class WikiextractorSource(FileSource):
    """Files that WikiExtractor makes of a Wikipedia dump: `<doc id= url= title=>`, the text, `</doc>`.

    The document's URI is the article's.
    """

    kind: Literal["wikiextractor"]
    name: SourceName = "wikiextractor"


class MediawikiSource(DescribedSource):
    """Dumps of Wikipedia and other wikis, as MediaWiki exports them in XML: a document an article.

    Wikitext becomes plain text without templates, tables and references. The document's URI is the article's.
    `metadata_keys` may name `title`, `id`, `revision` and `timestamp`.
    """

    kind: Literal["mediawiki"]
    name: SourceName = "mediawiki"


class DocstringsSource(Source):
    """The docstrings of installed packages and of the standard library, read without importing them."""

    kind: Literal["docstrings"]
    name: SourceName = "docstrings"
    packages: tuple[str, ...] = ()
    """Names of packages, as one imports them."""
    standard_library: bool = True
    """True to read the standard library too."""
    licence: str = "as each package states"

    @pydantic.model_validator(mode="after")
    def _names_something(self) -> "DocstringsSource":
        if not self.packages and not self.standard_library:
            raise ValueError("name at least one package, or set standard_library: true")
        return self

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """Packages."""
        return (*self.packages, *(["the standard library"] if self.standard_library else []))

    @property
    def installed_packages(self) -> tuple[str, ...]:  # type: ignore[override]
        """Packages that are named."""
        return self.packages

    @property
    def places(self) -> tuple[str, ...]:
        """Packages that are named."""
        return self.packages


AnySource = Annotated[
    TextSource
    | JsonlSource
    | CsvSource
    | ParquetSource
    | ArrowSource
    | WarcSource
    | WetSource
    | HtmlSource
    | WikiextractorSource
    | MediawikiSource
    | TfrecordSource
    | DocstringsSource,
    pydantic.Field(discriminator="kind"),
]

# Kinds of source by the endings of their files' names.
ENDINGS: dict[str, str] = {
    ending: get_args(source.model_fields["kind"].annotation)[0]
    for source in get_args(get_args(AnySource)[0])
    for ending in source.endings
}
