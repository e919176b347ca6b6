"""Kinds of rows by the endings of files."""

import pytest

from firth.tasks.readers.endings import ROWS, ConllRows, ConlluRows, JsonRows, ending_of
from firth.tasks.readers.records import RefusedFileError
from firth.tasks.readers.rows import CsvRows, UnquotedTsvRows


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        ("a.csv", CsvRows),
        ("gs://b.tsv/a.TSV.gz", UnquotedTsvRows),
        ("a.csv.json", JsonRows),
        ("a.iob2", ConllRows),
        ("a.conllu", ConlluRows),
    ],
)
def test_the_last_ending_tells_the_rows(path, rows):
    assert ROWS[ending_of(path, ROWS)] is rows


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a.jsnl", r"a\.jsnl: the ending '\.jsnl' is unknown; did you mean \.jsonl"),
        ("csv", r"csv: the ending '' is unknown"),
        ("a.gz", r"a\.gz: the ending '' is unknown"),
    ],
)
def test_an_unknown_ending_is_refused_with_the_nearest(path, said):
    with pytest.raises(RefusedFileError, match=said):
        ending_of(path, ROWS)


def test_a_table_of_other_endings_is_asked_alone():
    assert ending_of("a.txt", {".txt": None}) == ".txt"
    with pytest.raises(RefusedFileError, match=r"'\.csv' .*: \.txt"):
        ending_of("a.csv", {".txt": None})
