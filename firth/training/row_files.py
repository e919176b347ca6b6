"""Converts the TFRecord files of a split to `Rows`, checked row by row, once, in one process or several."""

import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features, storage
from firth.corpus.io.records import read_record
from firth.serving.encoding import row_parser
from firth.tokenizers.graph.word_characters import word_characters
from firth.training.rows import RowLimits, Rows, RowsError, RowsWriter, load_rows
from firth.training.workers import ClusterError, Workers

_FORMAT = 1
# Names that `_key` gives, and those of folders that were not finished.
_BUILT = re.compile(r"(parts-)?[0-9a-f]{24}|\.[0-9a-f]{24}\.[0-9a-f]{32}")
_BATCH = 512
_RAGGED = (
    features.RAW_TOKENS,
    features.WORD_STARTS,
    features.SENTENCE_STARTS,
    features.CHUNK_LENGTHS,
    features.DOCUMENT_KEYS,
)
_WORDS = {features.WORDS: tf.io.RaggedFeature(tf.string)}
_DIGEST_BYTES = 32


class RecordsError(ValueError):
    """A file whose records cannot be read to its end."""


def read_rows(patterns: Sequence[str], cache_directory: str, limits: RowLimits) -> Rows:
    """Returns all rows of the files that match `patterns`.

    The rows are converted once, block by block, into a sub-directory of `cache_directory` that is named
    by the content of the files and appears whole or not at all. It replaces the one of other content.

    Args:
        cache_directory: Folder that is made if it does not exist. Only one process at a time may build in it.
            If it is not local, the rows, which are memory-mapped, have a folder on this machine while the
            process lives.

    Raises:
        RowsError: if no file matches, no row is in them, or a row is malformed or does not keep to the
            limits; names the file and the record.
    """
    files = match_files(patterns)
    key = key_of([storage.digest_of(path) for path in files], limits)
    directory = os.path.join(storage.local_folder(cache_directory), key)
    if not storage.is_whole(directory):
        _build(files, directory, limits)
    return load_rows(directory, limits.specs)


def read_rows_together(
    patterns: Sequence[str], cache_directory: str, limits: RowLimits, workers: Workers
) -> Rows:
    """Returns all rows of the files that match `patterns`, as `read_rows` does, in each process.

    Each file is read by one process of the training. The chief joins the converted files, in the
    order in which one process would have read them, so that rows, their digest and the folder that keeps them
    are the same whatever the number of processes. An epoch is a permutation of all rows; each
    process reads its part from the joined rows.

    Raises:
        RowsError: as `read_rows` does, in the process that reads the file.
        ClusterError: if the processes see other files, or do not all see `cache_directory`.
    """
    if workers.count == 1:
        return read_rows(patterns, cache_directory, limits)
    files = match_files(patterns)
    workers.check_same("the number of row files", len(files))
    digests = _digests(files, workers)
    key = key_of(digests, limits)
    shared, own = (
        os.path.join(each, key) for each in (cache_directory, storage.local_folder(cache_directory))
    )
    # The others do not look before it is there: a network's disk may remember for them that it was not.
    if not workers.total([float(workers.is_chief and storage.is_whole(shared))])[0]:
        _build_together(files, digests, shared, limits, workers)
    _check_seen(shared, workers)
    if own != shared and not storage.is_whole(own):
        storage.copy_folder(shared, own)
    return load_rows(own, limits.specs)


def match_files(patterns: Sequence[str]) -> list[str]:
    """Returns the sorted files that match the patterns."""
    files = [path for path in storage.glob(*patterns) if not storage.is_folder(path)]
    if not files:
        raise RowsError(f"no file matches {', '.join(patterns) or 'an empty list of patterns'}")
    return files


def key_of(digests: Sequence[bytes], limits: RowLimits) -> str:
    """Returns the name of the folder of converted rows, which follows from their content."""
    contents = sorted(digest.hex() for digest in digests)
    return hashlib.sha256(repr((_FORMAT, limits, contents)).encode()).hexdigest()[:24]


def remove_built(home: str, but: str = "") -> None:
    """Removes converted rows that would only fill the disk: of other content, or not built to their end."""
    for name in storage.list_folder(home):
        if _BUILT.fullmatch(name) and name != but:
            storage.remove(os.path.join(home, name))


def convert_file(path: str, limits: RowLimits, writer: RowsWriter) -> None:
    """Appends the rows of one file.

    Raises:
        RowsError: if a row is malformed or does not keep to the limits; names the file and the record.
    """
    for block in _read_file(path, limits):
        writer.append({name: _pad(block[name], spec) for name, spec in limits.specs.items()})


def records_of(path: str) -> Iterator[bytes]:
    """Yields the records of a file, with their checksums checked."""
    try:
        with storage.open_file(path) as file, _content_of(path, file) as content:
            while (record := read_record(content)) is not None:
                yield record
    except (EOFError, gzip.BadGzipFile, zlib.error, ValueError) as error:
        raise RecordsError(str(error)) from error


def _build(files: Sequence[str], directory: str, limits: RowLimits) -> None:
    remove_built(os.path.dirname(directory))
    with storage.whole_folder(directory) as folder, RowsWriter(folder, limits.specs) as writer:
        for path in files:
            convert_file(path, limits, writer)
        writer.finish()


def _read_file(path: str, limits: RowLimits) -> Iterator[dict[str, Any]]:
    """Yields checked blocks of rows, ragged tensors by field."""
    parsers, count = _parsers(limits), 0
    try:
        for batch in _batches(path):
            block = tf.io.parse_example(tf.constant(batch), parsers)
            _check(block, limits, path, count)
            count += len(batch)
            yield _with_characters(block, limits.max_characters)
    except (tf.errors.InvalidArgumentError, RecordsError) as error:
        why = getattr(error, "message", error)
        raise RowsError(f"{path}: cannot be read after record {count}: {why}") from error


def _batches(path: str) -> Iterator[list[bytes]]:
    """Yields the records of a file in batches, also those before damage."""
    batch: list[bytes] = []
    try:
        for record in records_of(path):
            batch.append(record)
            if len(batch) == _BATCH:
                yield batch
                batch = []
    except RecordsError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _parsers(limits: RowLimits) -> dict[str, Any]:
    stored = {name: spec for name, spec in limits.specs.items() if name != features.CHARACTERS}
    words = _WORDS if limits.max_characters else {}
    return {**{name: row_parser(spec) for name, spec in stored.items()}, **words}


def _with_characters(block: dict[str, Any], max_characters: int) -> dict[str, Any]:
    if not max_characters:
        return block
    words = block[features.WORDS]
    characters = word_characters(words.flat_values, max_characters)
    return {**block, features.CHARACTERS: words.with_flat_values(characters)}


def _check(block: dict[str, tf.RaggedTensor], limits: RowLimits, path: str, count: int) -> None:
    for bad, problem in _problems(block, limits):
        if bad.any():
            raise RowsError(f"{path}: record {count + int(np.argmax(bad))}: {problem}")


def _problems(
    block: dict[str, tf.RaggedTensor], limits: RowLimits
) -> Iterator[tuple[npt.NDArray[np.bool_], str]]:
    """Yields a bool [rows], True on rows with a problem, and its description."""
    lengths = {name: block[name].row_lengths().numpy() for name in _RAGGED}
    tokens, chunks = lengths[features.RAW_TOKENS], lengths[features.CHUNK_LENGTHS]
    yield tokens == 0, "holds no tokens"
    for name in (features.WORD_STARTS, features.SENTENCE_STARTS):
        yield lengths[name] != tokens, f"{name} is not as long as {features.RAW_TOKENS}"
    if limits.max_characters:
        words = block[features.WORDS].row_lengths().numpy()
        yield words != tokens, "does not hold a word for each of its tokens"
    yield lengths[features.DOCUMENT_KEYS] != chunks, "document_keys is not as long as chunk_lengths"
    yield chunks > limits.max_chunks, f"has more than {limits.max_chunks} chunks"
    documents, left = np.divmod(chunks, limits.texts)
    yield left > 0, f"has a document that is not {limits.texts} chunks"
    chunk_lengths = block[features.CHUNK_LENGTHS]
    yield _any(chunk_lengths < 1), "has a chunk of no tokens"
    yield tf.reduce_sum(chunk_lengths, 1).numpy() != tokens, "chunk_lengths do not add up to its tokens"
    full = tokens + limits.special_tokens * documents
    yield full > limits.capacity, f"is longer than {limits.capacity} tokens with its special ones"
    keys = np.asarray(block[features.DOCUMENT_KEYS].flat_values).reshape(-1, limits.texts)
    yield _of_rows((keys != keys[:, :1]).any(axis=1), documents), "has a document of several keys"
    counts = ((limits.max_documents, documents), (limits.max_chunks, chunks), (limits.raw_length, tokens))
    for name, spec in limits.labels.items():
        if spec.shape:
            found = block[name].row_lengths().numpy()
            fits = [found == count for most, count in counts if most == spec.shape[0]]
            bad = ~np.any(fits, axis=0) if fits else found > spec.shape[0]
            yield bad, f"{name} is not as long as what it labels"
    ids = block[features.RAW_TOKENS]
    outside = _any((ids < 0) | (ids >= limits.vocabulary_size))
    yield outside, f"has token ids outside the vocabulary of {limits.vocabulary_size} pieces"


def _of_rows(bad: npt.NDArray[np.bool_], counts: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Returns bool [rows], True on rows with a bad document, from a bool for each document of all rows."""
    rows = np.repeat(np.arange(len(counts)), counts)
    return np.bincount(rows[bad], minlength=len(counts)) > 0


def _any(flags: tf.RaggedTensor) -> npt.NDArray[Any]:
    return tf.reduce_any(flags, axis=1).numpy()


def _pad(column: tf.RaggedTensor, spec: features.Spec) -> npt.NDArray[Any]:
    if isinstance(column, tf.RaggedTensor):
        return column.to_tensor(shape=[None, *spec.shape]).numpy()
    return column.numpy()


def _content_of(path: str, file: IO[bytes]) -> BinaryIO:
    if not path.endswith(".gz"):
        return cast("BinaryIO", file)
    # gzip reads an empty file as one without content.
    if not file.read(1):
        raise EOFError("0 bytes are not a gzip stream")
    file.seek(0)
    return cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb"))


def _own(files: Sequence[str], workers: Workers) -> range:
    """Returns the numbers of the files that this process reads."""
    return range(workers.index, len(files), workers.count)


def _digests(files: Sequence[str], workers: Workers) -> list[bytes]:
    """Returns the SHA-256 of each file, of which each process reads its own."""
    found = np.zeros([len(files), _DIGEST_BYTES])
    for number in _own(files, workers):
        found[number] = list(storage.digest_of(files[number]))
    totals = np.asarray(workers.total(found.ravel().tolist())).astype(np.uint8).reshape(found.shape)
    return [digest.tobytes() for digest in totals]


def _build_together(
    files: Sequence[str], digests: Sequence[bytes], shared: str, limits: RowLimits, workers: Workers
) -> None:
    home, name = os.path.split(shared)
    parts = os.path.join(home, f"parts-{name}")
    folders = [os.path.join(parts, f"{number}-{digest.hex()[:24]}") for number, digest in enumerate(digests)]
    if workers.is_chief:
        remove_built(home, but=os.path.basename(parts))
    workers.wait()
    for number in _own(files, workers):
        # Processes that restart after one was lost reuse converted files.
        if not storage.is_whole(folders[number]):
            with storage.whole_folder(folders[number]) as folder, RowsWriter(folder, limits.specs) as writer:
                convert_file(files[number], limits, writer)
    workers.wait()
    if workers.is_chief:
        _join(folders, shared, limits)
        storage.remove(parts)
    workers.wait()


def _join(parts: Sequence[str], shared: str, limits: RowLimits) -> None:
    with storage.whole_folder(shared) as folder, RowsWriter(folder, limits.specs) as writer:
        for part in parts:
            # It raises if the chief does not see what another process wrote.
            storage.check_whole(part)
            with storage.local_copy(part) as copy:
                writer.append_part(copy)
        writer.finish()


def _check_seen(shared: str, workers: Workers) -> None:
    seen = round(workers.total([float(storage.is_whole(shared))])[0])
    if seen < workers.count:
        raise ClusterError(
            f"{shared}: {seen} of {workers.count} processes see it; the folder of checkpoints must be one "
            "that all see, such as a bucket or a shared disk"
        )
