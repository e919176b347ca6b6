"""Ids that are numbers with a point, as pandas writes a column in which some are missing."""

import json

import pyarrow as pa
import pytest

from firth.corpus.documents.document import Document, document_id
from firth.recipes.corpus.sources import JsonlSource, ParquetSource
from tests.corpus.readers.reading import read
from tests.corpus.source_files import parquet

IDS = [7.0, None, float("nan"), 0.5, float("inf"), 2.0**60]
STATED = ["7", "", "", "0.5", "inf", str(2**60)]
TEXTS = [f"Text {n}." for n in range(len(IDS))]
FILES = {
    "parquet": (ParquetSource, parquet({"text": TEXTS, "n": pa.array(IDS, pa.float64())})),
    "jsonl": (
        JsonlSource,
        "\n".join(json.dumps({"text": text, "n": n}) for text, n in zip(TEXTS, IDS)).encode(),
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_numbers_are_ids_and_nan_is_none(tmp_path, kind):
    new_source, content = FILES[kind]
    (tmp_path / "a").write_bytes(content)
    records = read(new_source(kind=kind, name="web", paths=(f"{tmp_path}/a",), id_key="n"))
    mark = "L" if kind == "jsonl" else "R"
    expected = [document_id("web", f"a#{mark}{n}", stated) for n, stated in enumerate(STATED, 1)]
    assert [each.id if isinstance(each, Document) else each.reason for each in records] == expected
