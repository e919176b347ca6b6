"""Texts of files: what is read, what is counted with its line, and what is refused."""

import gzip

import pytest

from firth.serving.batch.texts import FIRST, Unread, read_texts
from firth.tasks.readers.records import RefusedFileError


def read(path, needs="", **columns):
    unread = Unread()
    found = [(each.line, each.texts) for each in read_texts(path, columns or {"text": "text"}, unread, needs)]
    return found, [(each.line, each.reason) for each in unread.first]


@pytest.mark.parametrize(("name", "content", "texts", "unread"), [
    ("a.txt", b"one\r\n\n two\xe2\x80\xa8rest\n\xff\nlast", ["one", " two\u2028rest", "last"],
     [(2, "empty_text"), (4, "not_utf8")]),
    ("a.jsonl", b'{"text": "one"}\n\n{"txt": "b"}\nno\n[1]\n{"text": 3}\n{"text": " "}\n{"text": "last"}\n',
     ["one", "last"],
     [(3, "missing_key"), (4, "not_json"), (5, "not_json"), (6, "not_text"), (7, "empty_text")]),
    ("a.csv", b'\xef\xbb\xbfid,text\r\n1,"one, ""two""\nthree"\r\n2\r\n3,\r\n4,last',
     ['one, "two"\nthree', "last"], [(4, "wrong_columns"), (5, "empty_text")]),
    ("a.TSV", b'text\tid\n5" one\t1\ntwo\n', ['5" one'], [(3, "wrong_columns")]),
])  # fmt: skip
def test_what_cannot_be_read_is_counted_with_its_line(tmp_path, name, content, texts, unread):
    (tmp_path / name).write_bytes(content)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
    for path in (tmp_path / name, tmp_path / f"{name}.gz"):
        found, rejected = read(path)
        assert ([each["text"] for _, each in found], rejected) == (texts, unread)


def test_columns_are_named_by_their_inputs(tmp_path):
    (tmp_path / "a.csv").write_text("q,a\nwho,me\n")
    assert read(tmp_path / "a.csv", text="q", pair="a") == ([(2, {"text": "who", "pair": "me"})], [])
    with pytest.raises(RefusedFileError, match=r"a\.csv: .*'b'.*--column pair=COLUMN"):
        read(tmp_path / "a.csv", text="q", pair="b")


def test_a_text_without_the_piece_that_is_asked_about_is_counted(tmp_path):
    (tmp_path / "a.txt").write_text("a [MASK]\nnone\n")
    assert read(tmp_path / "a.txt", needs="[MASK]") == ([(1, {"text": "a [MASK]"})], [(2, "nothing_asked")])


def test_many_that_cannot_be_read_are_counted_and_only_the_first_are_kept(tmp_path):
    (tmp_path / "a.txt").write_text("\n" * 100)
    unread = Unread()
    assert list(read_texts(tmp_path / "a.txt", {"text": "text"}, unread)) == []
    assert unread.counts == {"empty_text": 100} and len(unread.first) == FIRST


@pytest.mark.parametrize(("name", "content", "problem"), [
    ("a.doc", b"", "'.doc'"),
    ("a.txt", b"\xff\xfea\0", "UTF-16"),
    ("a.csv", b"", "columns"),
    ("a.csv", b'text\n"one\n', "quotation mark"),
    ("a.txt.gz", gzip.compress(b"one\n" * 999, mtime=0)[:-9], "gzip"),
])  # fmt: skip
def test_what_is_no_such_file_at_all_is_refused(tmp_path, name, content, problem):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RefusedFileError, match=problem):
        read(tmp_path / name)
