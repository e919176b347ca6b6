"""Small files that would be large in memory."""

import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firth.corpus.documents.example import Example
from firth.corpus.readers import parquet_source as parquet_batches
from firth.corpus.readers.parquet_source import MAX_BATCH_ROWS, batch_rows
from firth.corpus.readers.sources import SOURCES, list_files
from firth.corpus.readers.tfrecord_source import parse_example
from firth.recipes.corpus.sources import ParquetSource
from tests.corpus.source_files import parquet

VALUE = "x" * 2**16


def rows_at_once(path, column: str = "text") -> int:
    dictionaries = pq.ParquetFile(path, read_dictionary=[column])
    return batch_rows(pq.ParquetFile(path), dictionaries, [column])


@pytest.mark.parametrize(
    ("table", "column"),
    [({"text": [VALUE] * 1024}, "text"), ({"m": [{"text": VALUE, "n": 1}] * 1024}, "m.text")],
    ids=["column", "nested"],
)
def test_a_dictionary_is_not_decoded_for_many_rows_at_once(tmp_path, monkeypatch, table, column):
    monkeypatch.setattr(parquet_batches, "MAX_DECODED_BYTES", 2**23)
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet(table, compression="zstd"))
    assert path.stat().st_size < 5_000
    assert 1 <= rows_at_once(path, column) <= 2**23 // len(VALUE)


def test_short_texts_are_read_many_at_once(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet({"text": [f"text {i} " * 50 for i in range(5000)]}))
    assert rows_at_once(path) == MAX_BATCH_ROWS
    # A group without rows.
    path.write_bytes(parquet({"text": pa.array([], pa.string())}))
    assert rows_at_once(path) == MAX_BATCH_ROWS


def test_the_peak_of_memory_is_bounded(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet({"text": [VALUE * 4] * 1024}, compression="zstd"))
    source = ParquetSource(kind="parquet", paths=(str(path),))
    before, counted = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(counted)
    tracemalloc.start()
    try:
        count = sum(1 for file in list_files(source) for _ in SOURCES["parquet"].read(source, file))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)
    # All rows together are 256 MiB, and were held twice.
    assert count == 1024 and counted.max_memory() > 2**24
    assert counted.max_memory() + peak < 384 * 2**20


def test_a_column_that_cannot_be_text_is_rejected_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_batches, "MAX_CHUNK_BYTES", 2**20)
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet({"text": ["\0" * (2**20 + 1)]}, compression="zstd", use_dictionary=False))
    source = ParquetSource(kind="parquet", paths=(str(path),))
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *args, **keys: pytest.fail("read"))
    (record,) = [each for file in list_files(source) for each in SOURCES["parquet"].read(source, file)]
    assert (record.reason, record.line) == ("decompression_bomb", 0)


def test_a_feature_of_millions_is_its_first_value():
    example = Example()
    example.features.feature["n"].int64_list.value.extend([7] * 10**5)
    example.features.feature["text"].bytes_list.value.extend([b"a"] * 10**5)
    assert parse_example(example.SerializeToString()) == {"n": 7, "text": b"a"}
