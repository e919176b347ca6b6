"""Properties of all kinds of source."""

import collections
import random
import tracemalloc

import pytest
import zstandard

from firth.corpus.documents.document import Document
from firth.corpus.io import compression
from firth.corpus.privacy.excerpts import scrubber_for
from firth.corpus.readers.sources import SOURCES, list_files
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import COMPRESSIONS
from tests.corpus.fuzzed_files import FUZZED, FUZZED_FILES, fuzzed, mutate
from tests.corpus.helpers import read_to
from tests.corpus.source_files import COMPRESS, COMPRESSED_KINDS, FILES, NAMES, TEXTS
from tests.repeating import often

KINDS = tuple(sorted(FILES))

# How a record begins that continues for 100 MiB.
ENORMOUS: dict[str, bytes] = {
    "jsonl": b'{"text": "',
    "wikiextractor": b'<doc id="1" url="u" title="t">\n',
    "warc": b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 104857600\r\n\r\n",
    "wet": b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 104857600\r\n\r\n",
    "tfrecord": b"\x00\x00\x40\x06\x00\x00\x00\x00",
}


def read(source) -> list:
    return [record for file in list_files(source) for record in SOURCES[source.kind].read(source, file)]


def write(folder, kind: str, suffix: str = "", **options):
    """Writes the texts to a file of a kind, compressed as the suffix says, and returns the source of it."""
    new_source, make_file = FILES[kind]
    path = folder / f"file.{kind}{suffix}"
    path.write_bytes(COMPRESS[suffix](make_file(TEXTS)))
    return new_source(kind=kind, paths=(f"{path}*",), **options)


def test_every_kind_of_file_and_of_compression_is_in_these_tables():
    assert set(NAMES) == set(compression.COMPRESSIONS) == set(COMPRESSIONS)
    assert set(KINDS) | {"docstrings"} == set(SOURCES)


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_stable_and_unique_and_provenance_is_whole(tmp_path, kind):
    source = write(tmp_path, kind, licence="CC0")
    documents = read(source)
    assert [each.text for each in documents] == list(TEXTS[: len(documents)])
    assert len(documents) == (1 if kind in ("text", "html") else len(TEXTS))
    assert documents == read(source)
    assert len({each.id for each in documents}) == len({each.uri for each in documents}) == len(documents)
    assert {(each.source, each.licence) for each in documents} == {(kind, "CC0")}
    renamed = read(source.model_copy(update={"name": "other"}))
    assert not {each.id for each in documents} & {each.id for each in renamed}


@pytest.mark.parametrize("kind", COMPRESSED_KINDS)
def test_the_same_documents_whatever_the_compression(tmp_path, kind):
    plain = [(each.text, each.uri.partition("#")[2]) for each in read(write(tmp_path, kind))]
    for suffix in NAMES:
        folder = tmp_path / suffix
        folder.mkdir()
        packed = read(write(folder, kind, suffix))
        assert [(each.text, each.uri.partition("#")[2]) for each in packed] == plain


@pytest.mark.parametrize("kind", often(COMPRESSED_KINDS, ("text", "tfrecord", "mediawiki", "wet")))
def test_the_content_tells_the_compression_and_not_the_name(tmp_path, kind):
    plain = [each.text for each in read(write(tmp_path, kind))]
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    for name in ("", ".bad", *NAMES):
        for suffix, compress in COMPRESS.items():
            path.unlink()
            path = tmp_path / f"file.{kind}{name}"
            path.write_bytes(compress(data))
            records = read(FILES[kind][0](kind=kind, paths=(str(path),)))
            if not suffix and name in NAMES and kind == "tfrecord":
                # What is neither text nor compressed may be a damaged stream: its name is believed.
                assert [each.reason for each in records] == [f"corrupt_{NAMES[name]}"]
            else:
                assert [each.text for each in records] == plain


@pytest.mark.parametrize("suffix", NAMES)
@pytest.mark.parametrize("kind", COMPRESSED_KINDS)
def test_a_truncated_stream_is_one_counted_rejection_that_names_the_compression(tmp_path, kind, suffix):
    source = write(tmp_path, kind, suffix)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    *before, last = read(source)
    assert last.reason == f"truncated_{NAMES[suffix]}"
    assert all(isinstance(each, Document) for each in before)


@pytest.mark.parametrize("suffix", NAMES)
@pytest.mark.parametrize("kind", COMPRESSED_KINDS)
def test_a_stream_that_is_none_is_one_counted_rejection(tmp_path, kind, suffix):
    source = write(tmp_path, kind, suffix)
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"no stream" + path.read_bytes())
    assert [each.reason for each in read(source)] == [f"corrupt_{NAMES[suffix]}"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_file_is_one_rejection(tmp_path, kind):
    source = write(tmp_path, kind)
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"")
    assert [each.reason for each in read(source)] == ["corrupt_parquet" if kind == "parquet" else "empty"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_cannot_be_opened_is_one_rejection(tmp_path, kind):
    source = write(tmp_path, kind)
    (file,) = list_files(source)
    (tmp_path / f"file.{kind}").unlink()
    assert [each.reason for each in SOURCES[kind].read(source, file)] == ["unreadable"]


@pytest.mark.parametrize("kind", KINDS)
def test_documents_above_the_limit_are_rejected(tmp_path, kind):
    records = read(write(tmp_path, kind, max_document_bytes=100))
    assert {each.reason for each in records} == {"too_long"}
    assert len(records) == (1 if kind in ("text", "html") else len(TEXTS))


@pytest.mark.parametrize("kind", often(COMPRESSED_KINDS, ("text", "tfrecord", "mediawiki", "warc")))
def test_what_is_enormous_takes_no_memory(tmp_path, kind):
    source = write(tmp_path, kind, ".zst", max_document_bytes=10_000)
    (path,) = tmp_path.iterdir()
    with zstandard.open(path, "wb") as file:
        file.write(ENORMOUS.get(kind, b""))
        for _ in range(100):
            file.write(bytes(2**20))
    tracemalloc.start()
    records = read(source)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not any(isinstance(each, Document) for each in records)
    assert records[0].size >= 100 * 2**20
    assert peak < 64 * 2**20


SCRUBBER = scrubber_for(Cleaning())


def check_fuzzed(folder, name: str, seed: int) -> collections.Counter:
    """Reads one mutated file, and returns the numbers of documents and rejections."""
    source = fuzzed(folder, name, seed)
    records = read(source)
    assert records == read(source)
    documents = [each for each in records if isinstance(each, Document)]
    assert len({each.id for each in documents}) == len(documents)
    for each in documents:
        assert each.text.strip()
        each.to_example()
    for each in records:
        if not isinstance(each, Document):
            assert each.reason
            assert (each.file,) == source.places
            assert each.line >= 0
            each.to_json(SCRUBBER)
    assert records
    return collections.Counter(getattr(each, "reason", "document") for each in records)


# The first seeds; the others are `repeated`.
FEW = FUZZED_FILES // 5


@pytest.mark.parametrize(
    "seeds", [range(FEW), pytest.param(range(FEW, FUZZED_FILES), marks=pytest.mark.repeated)]
)
@pytest.mark.parametrize("name", FUZZED)
def test_no_mutated_file_raises(tmp_path, name, seeds):
    outcomes = sum((check_fuzzed(tmp_path, name, seed) for seed in seeds), collections.Counter())
    assert outcomes["document"] > 5
    assert len(outcomes) > 1


def test_in_is_documents_and_rejections_over_all_kinds(tmp_path):
    for kind in KINDS:
        (tmp_path / kind).mkdir()
    sources = [write(tmp_path / kind, kind) for kind in KINDS]
    for source in sources:
        generator = random.Random(source.kind)
        (whole,) = (tmp_path / source.kind).iterdir()
        for i in range(5):
            (tmp_path / source.kind / f"file.{i}").write_bytes(mutate(whole.read_bytes(), generator))
    sources = [each.model_copy(update={"paths": (f"{tmp_path}/{each.kind}/file.*",)}) for each in sources]
    # The totals's own check raises if a record went missing.
    documents = read_to(tmp_path / "out", sources)
    assert {each.source for each in documents} == set(KINDS)
