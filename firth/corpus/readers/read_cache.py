"""A cache of the documents of each file, so that another run reads only new and changed files."""

import base64
import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence

from firth import storage
from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import digest
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.content_digests import content_digests
from firth.corpus.io.records import read_records, record_path, write_file
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.encodings import guessed_encoding
from firth.corpus.readers.sources import list_files, read_file
from firth.recipes.base.file_names import without_folders
from firth.recipes.corpus.sources import AnySource

# Bump when readers read files differently.
_FORMAT = 1
# Keys that do not change the documents of a file.
_OF_OTHERS = ("paths", "sample", "digests", "keep_read")
_ENCODING, _DOCUMENT, _REJECTION = b"E", b"D", b"R"


def list_files_to_read(source: AnySource) -> list[SourceFile]:
    """Returns the files of a source; those to be cached have the name of their entry as `kept_as`.

    Raises:
        SourceError: if a pattern matches no file, or a package is not installed.
    """
    files = list_files(source)
    if not source.keeps_read:
        return files
    data = {key: value for key, value in without_folders(source).items() if key not in _OF_OTHERS}
    how = json.dumps([_FORMAT, data], sort_keys=True)
    found = content_digests(files, in_bucket=source.trusts_buckets)
    return [
        dataclasses.replace(file, kept_as=digest(how, file.place, content).hex())
        if isinstance(content, bytes)
        else file
        for file, content in zip(files, found, strict=True)
    ]


def read_cached(
    source: AnySource, file: SourceFile, folder: str
) -> tuple[str, Iterator[Document | Rejection]]:
    """Returns the guessed encoding of a file, and its documents and rejections."""
    if not folder or not file.kept_as:
        return guessed_encoding(source, file), read_file(source, file)
    path = record_path(folder, file.kept_as)
    if not storage.exists(path):
        write_file(folder, file.kept_as, _packed(source, file))
    records = read_records(path)
    return next(records)[1:].decode("utf-8"), map(_unpacked, records)


def remove_stale_entries(folder: str, sources: Sequence[AnySource]) -> None:
    """Removes the entries of files that the sources no longer have."""
    wanted = {record_path(folder, file.kept_as) for source in sources for file in list_files_to_read(source)}
    for name in storage.list_folder(folder):
        if (path := f"{folder}/{name}") not in wanted:
            storage.remove(path)


def _packed(source: AnySource, file: SourceFile) -> Iterable[bytes]:
    yield _ENCODING + guessed_encoding(source, file).encode("utf-8")
    for record in read_file(source, file):
        if isinstance(record, Document):
            yield _DOCUMENT + record.to_example()
        else:
            data = {**dataclasses.asdict(record), "beginning": base64.b64encode(record.beginning).decode()}
            yield _REJECTION + json.dumps(data).encode("utf-8")


def _unpacked(record: bytes) -> Document | Rejection:
    if record[:1] == _DOCUMENT:
        return Document.from_example(record[1:])
    data = json.loads(record[1:])
    return Rejection(**{**data, "beginning": base64.b64decode(data["beginning"])})
