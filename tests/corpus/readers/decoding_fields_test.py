import json

import pytest

from firth.corpus.documents.document import document_id
from firth.recipes.corpus.sources import JsonlSource, ParquetSource, TfrecordSource
from tests.corpus.readers.reading import outcomes, read
from tests.corpus.source_files import example, parquet, tfrecord

KEYS = {"text_key": "body", "id_key": "n", "uri_key": "url", "licence_key": "rights"}
ROWS = [
    {"body": "One.", "n": 1, "url": "http://1/", "rights": "CC-BY"},
    {"body": "Two.", "n": 2, "url": "http://2/", "rights": None},
]
FILES = {
    "jsonl": (JsonlSource, "\n".join(map(json.dumps, ROWS)).encode()),
    "parquet": (ParquetSource, parquet({key: [row[key] for row in ROWS] for key in ROWS[0]})),
    "tfrecord": (
        TfrecordSource,
        tfrecord(
            [
                example(**{k: v.encode() if isinstance(v, str) else v for k, v in row.items() if v})
                for row in ROWS
            ]
        ),
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_what_a_record_states_of_itself(tmp_path, kind):
    new_source, content = FILES[kind]
    (tmp_path / "a").write_bytes(content)
    documents = read(new_source(kind=kind, name="web", licence="CC0", paths=(f"{tmp_path}/a",), **KEYS))
    assert [(each.uri, each.licence) for each in documents] == [("http://1/", "CC-BY"), ("http://2/", "CC0")]
    mark = "L" if kind == "jsonl" else "R"
    assert [each.id for each in documents] == [document_id("web", f"a#{mark}{i}", f"{i}") for i in (1, 2)]
    plain = read(new_source(kind=kind, paths=(f"{tmp_path}/a",), text_key="body"))
    assert [each.uri for each in plain] == [f"a#{mark}1", f"a#{mark}2"]


@pytest.mark.parametrize("kind", FILES)
def test_a_slip_in_the_text_key(tmp_path, kind):
    new_source, content = FILES[kind]
    (tmp_path / "a").write_bytes(content)
    source = new_source(kind=kind, paths=(f"{tmp_path}/a",), text_key="txt")
    assert outcomes(source) == [(1, "missing_text_key"), (2, "missing_text_key")]
