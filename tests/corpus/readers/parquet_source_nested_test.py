"""Strings in nested columns that are not UTF-8, which Arrow does not check."""

import pyarrow as pa

from firth.recipes.corpus.sources import ParquetSource
from tests.corpus.readers.reading import outcomes
from tests.corpus.source_files import parquet


def test_a_nested_string_that_is_not_utf8_is_rejected_and_reading_goes_on(tmp_path):
    buffers = pa.array([b"http://a/", b"bad\xff", None, b"http://d/"], pa.binary()).buffers()
    urls = pa.Array.from_buffers(pa.string(), 4, buffers)
    inner = pa.StructArray.from_arrays([urls, urls.is_null()], ["url", "other"])
    column = pa.StructArray.from_arrays([inner], ["page"], mask=pa.array([False, False, False, True]))
    (tmp_path / "a").write_bytes(parquet({"text": ["One.", "Two.", "Three.", "Four."], "meta": column}))
    source = ParquetSource(kind="parquet", paths=(f"{tmp_path}/a",), uri_key="meta.page.url")
    assert outcomes(source) == ["One.", (2, "invalid_utf8"), "Three.", "Four."]
