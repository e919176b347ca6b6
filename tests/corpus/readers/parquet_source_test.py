import pyarrow as pa
import pytest

from firth.recipes.corpus.sources import ParquetSource
from tests.corpus.readers.reading import outcomes, read
from tests.corpus.source_files import parquet
from tests.repeating import often


def test_parquet_values(tmp_path):
    texts = pa.array([b"fine", b"bad\xff", b" ", None, b"x" * 99], pa.binary())
    (tmp_path / "a").write_bytes(parquet({"text": pa.Array.from_buffers(pa.string(), 5, texts.buffers())}))
    source = ParquetSource(kind="parquet", paths=(f"{tmp_path}/a",), max_document_bytes=50)
    rejected = [(2, "invalid_utf8"), (3, "empty"), (4, "text_not_a_string"), (5, "too_long")]
    assert outcomes(source) == ["fine", *rejected]


@pytest.mark.parametrize("compression", often(["NONE", "SNAPPY", "GZIP", "ZSTD"], ["NONE", "ZSTD"]))
def test_parquet_of_many_row_groups(tmp_path, compression):
    texts = [f"Text number {i}." for i in range(3000)]
    table = {
        "text": pa.array(texts).dictionary_encode(),
        "nested": [{"url": f"http://{i}/"} for i in range(3000)],
    }
    (tmp_path / "a").write_bytes(parquet(table, row_group_size=700, compression=compression))
    documents = read(ParquetSource(kind="parquet", paths=(f"{tmp_path}/a",), uri_key="nested.url"))
    assert [each.text for each in documents] == texts
    assert documents[2999].uri == "http://2999/"


def test_no_parquet_and_half_of_one(tmp_path):
    whole = parquet({"text": ["One.", "Two."]})
    for content in (b"no parquet", whole[: len(whole) // 2], whole[:4] + whole[-8:]):
        (tmp_path / "a").write_bytes(content)
        assert outcomes(ParquetSource(kind="parquet", paths=(f"{tmp_path}/a",))) == [(0, "corrupt_parquet")]
