import pytest

from firth.recipes.corpus.sources import JsonlSource
from tests.corpus.readers.reading import outcomes

NESTED = {
    '{"text": "Hi.", "meta": {"id": [1]}}': [(1, "id_not_a_string")],
    '{"text": "Hi.", "meta": {"id": "\\ud800"}}': [(1, "unpaired_surrogate")],
    '{"text": "Hi.", "meta": "none"}': ["Hi."],
    '{"text": "Hi.", "meta.id": 7}': ["Hi."],
}


@pytest.mark.parametrize("line", NESTED)
def test_nested_keys(tmp_path, line):
    (tmp_path / "a").write_text(line)
    assert outcomes(JsonlSource(kind="jsonl", paths=(f"{tmp_path}/a",), id_key="meta.id")) == NESTED[line]


JSONL = {
    b'{"text": "Hi.", "n": 1}\n\n{"text": "Ho."}': ["Hi.", "Ho."],
    b'{"text": "cut': [(1, "malformed_json")],
    b"[1]\n": [(1, "not_an_object")],
    b'{"txt": ""}\n': [(1, "missing_text_key")],
    b'{"text": ["a"]}\n{"text": null}': [(1, "text_not_a_string"), (2, "text_not_a_string")],
    b'{"text": "\\ud800"}': [(1, "unpaired_surrogate")],
    b'{"text": " "}': [(1, "empty")],
    b'{"text": "\xff"}\n{"text": "after"}': [(1, "invalid_utf8"), "after"],
    b"[" * 99: [(1, "malformed_json")],
    b'{"text": "' + b"x" * 200 + b'"}\n{"text": "after"}': [(1, "too_long"), "after"],
    b"": [(0, "empty")],
}


@pytest.mark.parametrize("content", JSONL)
def test_jsonl(tmp_path, content):
    (tmp_path / "a.jsonl").write_bytes(content)
    source = JsonlSource(kind="jsonl", paths=(f"{tmp_path}/*.jsonl",), max_document_bytes=100)
    assert outcomes(source) == JSONL[content]


def test_jsonl_text_key(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"body": "Hi."}')
    assert outcomes(JsonlSource(kind="jsonl", paths=(f"{tmp_path}/*",), text_key="body")) == ["Hi."]
