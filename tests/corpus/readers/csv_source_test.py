"""Separated values: rows, cells with line ends, and rows that cost themselves alone."""

import csv

import pytest

from firth.recipes.corpus.sources import CsvSource
from tests.corpus.readers.reading import outcomes, read

LONG = "whale " * 100
CONTENTS = {
    b"text,n\nOne.,1\n\nTwo.,2\n": ["One.", "Two."],
    b'\xef\xbb\xbftext,n\r\n"One,\r\ntwo ""three"".",1\r\nFour.,2': ['One,\ntwo "three".', "Four."],
    b"text,n\nOne.\nTwo.,2,3\nThree.,3\n": [(2, "too_few_columns"), (3, "too_many_columns"), "Three."],
    b"text,n\nO\xffne.,1\nTw\0o.,2\nThree.,3\n": [(2, "invalid_utf8"), (3, "nul"), "Three."],
    b'text,n\n"One" two,1\nThree.,3\n': [(2, "malformed_csv"), "Three."],
    b'text,n\nOne.,1\n"Two.,2\nThree.,3\n': ["One.", (3, "malformed_csv")],
    f"text,n\n{LONG},1\nTwo.,2\n".encode(): [(2, "too_long"), "Two."],
    f'text,n\n"{LONG[:99]}\n{LONG[:99]}",1\nTwo.,2\n'.encode(): [(2, "too_long"), "Two."],
    b"body,n\nOne.,1\n": [(2, "missing_text_key")],
    b"text,n\n ,1\n": [(2, "empty")],
    b"": [(0, "empty")],
    b"text,n\n": [(0, "empty")],
    b"te\xffxt,n\nOne.,1\n": [(1, "invalid_utf8"), (2, "too_many_columns")],
}


@pytest.mark.parametrize("content", CONTENTS)
def test_rows(tmp_path, content):
    (tmp_path / "a.csv").write_bytes(content)
    source = CsvSource(kind="csv", paths=(f"{tmp_path}/a.csv",), max_document_bytes=150)
    assert outcomes(source) == CONTENTS[content]


def test_keys_and_the_form_of_the_file(tmp_path):
    (tmp_path / "a.tsv").write_text('id\tbody\tstars\n7\t"One" été.\t5\n'.replace("é", "e"), "latin-1")
    (tmp_path / "b.txt").write_text("id;body;stars\n8;Two été.;4\n", "latin-1")
    keys = {"text_key": "body", "id_key": "id", "metadata_keys": ("stars", "none"), "encoding": "latin-1"}
    plain = CsvSource(kind="csv", paths=(f"{tmp_path}/a.tsv",), quoted=False, **keys)
    (one,) = read(plain)
    assert (one.text, one.uri, one.metadata) == ('"One" ete.', "a.tsv#L2", '{"stars": "5"}')
    (two,) = read(CsvSource(kind="csv", paths=(f"{tmp_path}/b.txt",), delimiter=";", **keys))
    assert (two.text, two.uri) == ("Two été.", "b.txt#L2")


def test_a_cell_beyond_the_limit_of_the_module_is_read(tmp_path):
    before = csv.field_size_limit()
    (tmp_path / "a.csv").write_text("text\n" + "whale " * 50_000 + "\n")
    (one,) = read(CsvSource(kind="csv", paths=(f"{tmp_path}/a.csv",)))
    assert len(one.text) == 300_000 > before or before > 300_000
