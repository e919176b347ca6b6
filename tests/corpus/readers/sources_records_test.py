import json

import pyarrow as pa
import pytest

from firth.corpus.documents.document import Document, document_id
from firth.corpus.readers.sources import SOURCES, list_files
from firth.recipes.corpus.sources import JsonlSource, ParquetSource, TfrecordSource, WikiextractorSource
from tests.corpus.helpers import shared_data
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


def read(source) -> list:
    return [record for file in list_files(source) for record in SOURCES[source.kind].read(source, file)]


def outcomes(source) -> list:
    return [each.text if isinstance(each, Document) else (each.line, each.reason) for each in read(source)]


@pytest.mark.parametrize("kind", FILES)
def test_what_a_record_states_of_itself(tmp_path, kind):
    new_source, content = FILES[kind]
    (tmp_path / "a").write_bytes(content)
    documents = read(new_source(kind=kind, name="web", licence="CC0", paths=(f"{tmp_path}/a",), **KEYS))
    assert [(each.uri, each.licence) for each in documents] == [("http://1/", "CC-BY"), ("http://2/", "CC0")]
    mark = "L" if kind == "jsonl" else "R"
    assert [each.id for each in documents] == [
        document_id("web", f"{tmp_path}/a#{mark}{i}", f"{i}") for i in (1, 2)
    ]
    plain = read(new_source(kind=kind, paths=(f"{tmp_path}/a",), text_key="body"))
    assert [each.uri for each in plain] == [f"{tmp_path}/a#{mark}1", f"{tmp_path}/a#{mark}2"]


@pytest.mark.parametrize("kind", FILES)
def test_a_slip_in_the_text_key(tmp_path, kind):
    new_source, content = FILES[kind]
    (tmp_path / "a").write_bytes(content)
    source = new_source(kind=kind, paths=(f"{tmp_path}/a",), text_key="txt")
    assert outcomes(source) == [(1, "missing_text_key"), (2, "missing_text_key")]


JSONL = {
    '{"text": "Hi.", "meta": {"id": [1]}}': [(1, "id_not_a_string")],
    '{"text": "Hi.", "meta": {"id": "\\ud800"}}': [(1, "unpaired_surrogate")],
    '{"text": "Hi.", "meta": "none"}': ["Hi."],
    '{"text": "Hi.", "meta.id": 7}': ["Hi."],
}


@pytest.mark.parametrize("line", JSONL)
def test_nested_keys(tmp_path, line):
    (tmp_path / "a").write_text(line)
    assert outcomes(JsonlSource(kind="jsonl", paths=(f"{tmp_path}/a",), id_key="meta.id")) == JSONL[line]


def test_parquet_values(tmp_path):
    texts = pa.array([b"fine", b"bad\xff", b" ", None, b"x" * 99], pa.binary())
    (tmp_path / "a").write_bytes(parquet({"text": pa.Array.from_buffers(pa.string(), 5, texts.buffers())}))
    source = ParquetSource(kind="parquet", paths=(f"{tmp_path}/a",), max_document_bytes=50)
    rejected = [(2, "invalid_utf8"), (3, "empty"), (4, "text_not_a_string"), (5, "too_long")]
    assert outcomes(source) == ["fine", *rejected]


@pytest.mark.parametrize("compression", ["NONE", "SNAPPY", "GZIP", "ZSTD"])
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


def test_broken_tfrecords(tmp_path):
    one, two, three = (tfrecord([example(text=text)]) for text in (b"One.", b"Two.", b"Three."))
    wrong_sum = two[:-4] + bytes(4)
    wrong_length = b"\x01" + two[1:]
    no_example = tfrecord([b"no example"])
    table = {
        one + wrong_sum + three: ["One.", (2, "corrupt_record"), "Three."],
        one + wrong_length + three: ["One.", (2, "corrupt_length")],
        one + no_example + three: ["One.", (2, "malformed_example"), "Three."],
        one + two[:-1]: ["One.", (2, "truncated_record")],
        one + two[:12]: ["One.", (2, "truncated_record")],
        one + two[:5]: ["One.", (2, "truncated_record")],
        tfrecord([example(text=b"\xff"), example(text=3), example(other=b"x")]): [
            (1, "invalid_utf8"),
            (2, "text_not_a_string"),
            (3, "missing_text_key"),
        ],
    }
    for content, expected in table.items():
        (tmp_path / "a").write_bytes(content)
        assert outcomes(TfrecordSource(kind="tfrecord", paths=(f"{tmp_path}/a",))) == expected


WIKI = {
    '<doc id="1" url="http://w/1" title="A "b"">\nA "b"\n\nText.\n</doc>\n': ['A "b"\n\nText.'],
    '<doc id="1">\nOne.\n<doc id="2">\nTwo.\n</doc>': [(1, "unclosed_document"), "Two."],
    '<doc id="1">\nOne.': [(1, "unclosed_document")],
    'Lost.\nwords\n<doc id="1">\nOne.\n</doc>\n\n\nmore': [
        (1, "outside_documents"),
        "One.",
        (8, "outside_documents"),
    ],
    "</doc>\n": [(1, "outside_documents")],
    '<doc id="1">\n\n</doc>\n': [(1, "empty")],
    '<doc id="1">\n' + "x" * 200 + '\n</doc>\n<doc id="2">\nTwo.\n</doc>': [(1, "too_long"), "Two."],
}


@pytest.mark.parametrize("content", WIKI)
def test_wikiextractor(tmp_path, content):
    (tmp_path / "a").write_text(content)
    source = WikiextractorSource(kind="wikiextractor", paths=(f"{tmp_path}/a",), max_document_bytes=100)
    assert outcomes(source) == WIKI[content]


def test_real_articles():
    folder = shared_data("wiki_extract")
    documents = read(WikiextractorSource(kind="wikiextractor", paths=(f"{folder}/wiki_*",)))
    assert len(documents) == 37 + 41 + 43 + 32
    assert documents[0].uri == "https://en.wikipedia.org/wiki?curid=12"
    assert documents[0].text.startswith("Anarchism\n\nAnarchism is")
