"""Output of a cleaned corpus in the formats of a recipe, on Beam."""

import contextlib
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, cast

import apache_beam as beam
import zstandard
from isal import igzip

from firth import storage
from firth.corpus.documents.batching import split_into_batches
from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import CountMismatchError, EmptyCorpusError
from firth.corpus.io.records import read_batches, record_files
from firth.corpus.text.web_addresses import host_of
from firth.recipes.corpus.outputs import AnyOutput, JsonlOutput, ParquetOutput

# The order of the fields in the files.
FIELDS = ("text", "id", "source", "url", "licence", "provenance", "split")
# The last field, of a corpus whose sources keep metadata.
METADATA = "metadata"
BLOCK_BYTES = 2**20
# The best ratio that isal has.
_GZIP_LEVEL = 3
# Text of a row group, which writer and reader hold as a whole.
ROW_GROUP_BYTES = 2**24
_ALWAYS = frozenset(FIELDS) - {"url"}
OUTPUTS_FILE = "outputs.json"
_WRITTEN_FILE = "written.json"
# Function of the output's type in the recipe, an open file, the documents and their split; and True if the
# metadata of documents are written too.
Write = Callable[..., None]


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


def _gzip(file: IO[bytes]) -> Any:
    # Neither name nor time, so that the same documents are the same bytes.
    return igzip.IGzipFile(fileobj=file, mode="wb", compresslevel=_GZIP_LEVEL, filename="", mtime=0)


def _zstd(file: IO[bytes]) -> Any:
    return zstandard.ZstdCompressor().stream_writer(file, closefd=False)


_COMPRESSORS: dict[str, Callable[[IO[bytes]], Any]] = {
    "gzip": _gzip,
    "zstd": _zstd,
    "none": contextlib.nullcontext,
}


def write_jsonl(
    output: JsonlOutput,
    file: IO[bytes],
    documents: Iterable[Document],
    split: str,
    keeps_metadata: bool = False,
) -> None:
    """Writes documents to a file of UTF-8, a JSON object of the fields of `output_row` a line."""
    rows = (_line(output_row(document, split, keeps_metadata)) for document in documents)
    with _COMPRESSORS[output.compression](file) as compressed:
        for lines in split_into_batches(rows, BLOCK_BYTES, len):
            compressed.write("".join(f"{line}\n" for line in lines).encode("utf-8"))


def _line(row: dict[str, str | None]) -> str:
    text = row.get(METADATA)
    further = {METADATA: json.loads(text)} if text else {}
    return json.dumps({**row, **further}, ensure_ascii=False)


def write_parquet(
    output: ParquetOutput,
    file: IO[bytes],
    documents: Iterable[Document],
    split: str,
    keeps_metadata: bool = False,
) -> None:
    """Writes documents to a file, a row each, with the columns of `output_row`, all of strings."""
    import pyarrow as pa
    from pyarrow import parquet

    names = (*FIELDS, METADATA) if keeps_metadata else FIELDS
    schema = pa.schema([pa.field(name, pa.string(), nullable=name not in _ALWAYS) for name in names])
    # These repeat; texts and ids do not.
    repeated: Any = ["source", "licence", "split"]
    with parquet.ParquetWriter(
        file, schema, compression=output.compression, use_dictionary=repeated
    ) as writer:
        for batch in split_into_batches(documents, ROW_GROUP_BYTES, operator.attrgetter("held_bytes")):
            rows = [output_row(document, split, keeps_metadata) for document in batch]
            writer.write_table(pa.Table.from_pylist(rows, schema))


class Shard(NamedTuple):
    """One file of an output.

    Attributes:
        output: The output of the recipe.
        split: Split of its documents.
        name: Path in the folder of the output.
        paths: TFRecord files of the documents, in order.
    """

    output: AnyOutput
    split: str
    name: str
    paths: tuple[str, ...]


def plan_shards(output: AnyOutput, split: str, pattern: str) -> Iterator[Shard]:
    """Yields the files of one split: `train/train-00000-of-00012.parquet` and so on."""
    found = record_files(pattern)
    if not found:
        raise EmptyCorpusError(f"the {split} split has no file of documents: nothing matches {pattern!r}")
    parts = [each for each in split_into_batches(found, output.shard_bytes, lambda file: file[1]) if each]
    for number, part in enumerate(parts):
        yield Shard(output, split, _name(output, split, number, len(parts)), tuple(path for path, _ in part))


def _name(output: AnyOutput, split: str, number: int, count: int) -> str:
    return f"{split}/{split}-{number:05d}-of-{count:05d}{output.file_ending}"


class WrittenShard(NamedTuple):
    """A file that has been written.

    Attributes:
        kind: Kind of the output.
        split: Split of its documents.
        name: Path in the folder of the output.
        documents: Number of its documents.
        bytes: Its size in bytes.
    """

    kind: str
    split: str
    name: str
    documents: int
    bytes: int


def write_outputs(
    make_pipeline: Callable[[], beam.Pipeline],
    split_patterns: Mapping[str, str],
    outputs: Sequence[AnyOutput],
    folder: str,
    documents: Mapping[str, int],
    keeps_metadata: bool = False,
) -> dict[str, dict[str, dict[str, int]]]:
    """Writes documents in each format to a folder of its own, named by the kind of the format.

    The files are the same, byte for byte, on any number of workers. A worker holds a part of one file. Each
    file is written whole or not at all, and the marker of each folder is written after all its files, so that
    `firth.storage.check_whole` refuses a folder that an interrupted run has left.

    Args:
        make_pipeline: Returns a new Beam pipeline.
        split_patterns: Path pattern of each split's TFRecord files of documents.
        outputs: The formats of the recipe.
        folder: Folder for the folders, and for `outputs.json`. Files of an earlier call are removed.
        documents: Number of documents that each split has.
        keeps_metadata: True to write the metadata of documents too.

    Returns:
        By format and split the numbers of `files`, `documents` and `bytes`, as in `outputs.json`.

    Raises:
        EmptyCorpusError: if a split has no file.
        CountMismatchError: if fewer or more documents were written than a split has.
    """
    for output in outputs:
        storage.remove(f"{folder}/{output.kind}")
    places = split_patterns.items()
    shards = [each for output in outputs for place in places for each in plan_shards(output, *place)]
    path = f"{folder}/{_WRITTEN_FILE}"
    with make_pipeline() as pipeline:
        _ = (
            pipeline
            | "Shards" >> beam.Create(shards)
            | "Spread" >> beam.Reshuffle()
            | "Write" >> beam.Map(_write, folder, keeps_metadata)
            | "Gather" >> beam.combiners.ToList()
            | "List" >> beam.Map(_list, path)
        )
    written = [WrittenShard(*each) for each in storage.read_json(path)]
    sizes = _sizes(written)
    for kind, splits in sizes.items():
        for split, size in splits.items():
            if size["documents"] != documents.get(split, 0):
                raise CountMismatchError(
                    f"outputs: {kind}: {size['documents']} documents of {split} were written, but it has "
                    f"{documents.get(split, 0)}"
                )
        files = {each.name: each.bytes for each in written if each.kind == kind}
        storage.write_marker(f"{folder}/{kind}", files)
    storage.write_json(f"{folder}/{OUTPUTS_FILE}", sizes)
    storage.remove(path)
    return sizes


def _write(shard: Shard, folder: str, keeps_metadata: bool) -> WrittenShard:
    output, split = shard.output, shard.split
    # Formats of others may not take the argument.
    further = (True,) if keeps_metadata else ()
    path, count = f"{folder}/{output.kind}/{shard.name}", _Counted(shard.paths)
    # Next to the folders, whose readers take every file in them.
    with storage.whole_file(path, aside=folder) as file:
        OUTPUTS[output.kind](output, cast(IO[bytes], file), count, split, *further)
    return WrittenShard(output.kind, split, shard.name, count.documents, storage.size_of(path))


class _Counted:
    """The documents of some files, which are counted while they are read.

    Attributes:
        documents: Number of documents read so far.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self.documents = 0

    def __iter__(self) -> Iterator[Document]:
        for path in self._paths:
            for records in read_batches(path):
                self.documents += len(records)
                yield from map(Document.from_example, records)


def _list(written: list[WrittenShard], path: str) -> None:
    storage.write_json(path, sorted(written))


def _sizes(written: Sequence[WrittenShard]) -> dict[str, dict[str, dict[str, int]]]:
    sizes: dict[str, dict[str, dict[str, int]]] = {}
    for each in written:
        of_split = sizes.setdefault(each.kind, {}).setdefault(each.split, {})
        for name, number in (("files", 1), ("documents", each.documents), ("bytes", each.bytes)):
            of_split[name] = of_split.get(name, 0) + number
    return sizes


OUTPUTS: dict[str, Write] = {
    "parquet": write_parquet,
    "jsonl": write_jsonl,
}
