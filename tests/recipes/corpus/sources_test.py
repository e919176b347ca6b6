import pytest

from firth.recipes import load_recipe
from firth.recipes.corpus.sources import ParquetSource, WarcSource
from firth.recipes.reading.requirements import notices


def test_parquet_files_are_not_compressed_as_a_whole():
    with pytest.raises(ValueError, match=r"'a\.parquet\.gz'"):
        ParquetSource(kind="parquet", paths=("a.parquet", "a.parquet.gz"))


@pytest.mark.parametrize(
    ("kind", "path", "said"),
    [
        ("text", "crawl/*.warc.gz", "warc"),
        ("warc", "crawl/*.warc.wet.gz", "wet"),
        ("jsonl", "a.parquet", "parquet"),
        ("warc", "crawl/*.warc.gz", None),
        ("text", "books/*.txt.zst", None),
        ("text", "books/*", None),
    ],
)
def test_a_file_that_is_named_for_another_kind(kind, path, said):
    found = notices(load_recipe("bert_tiny", [f'sources=[{{"kind": "{kind}", "paths": ["{path}"]}}]']))
    assert [line.rpartition(" ")[2] for line in found] == ([said] if said else [])


def test_an_extractor_that_is_none():
    with pytest.raises(ValueError, match="trafilatura, resiliparse"):
        WarcSource(kind="warc", paths=("a",), extractor="beautiful_soup")  # type: ignore[arg-type]
