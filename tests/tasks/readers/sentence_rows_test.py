"""Rows of one's own files of tagged words."""

import pytest

from firth.tasks.readers.sentence_rows import ConllRows, ConlluRows
from tests.tasks.readers.rejections import rejection

CONLL = "-DOCSTART- -X- O\n\nEU NNP B-ORG\n# NN O\n\n\nAda NNP\nwrote VB O\n"
CONLLU = (
    "# sent_id = a\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tdo\tdo\tAUX\tVBP\t_\t0\troot\t_\t_\n"
    "2\tn't\tnot\tPART\tRB\t_\t1\tadvmod\t_\t_\n"
    "\n"
    "# a comment alone\n"
)


def rows_of(kind, text):
    return kind("a.conll", text.splitlines(keepends=True))


def test_the_word_is_first_and_the_tag_is_last():
    rows = rows_of(ConllRows, CONLL)
    assert rows.columns == ["words", "tags"]
    (number, sentence), (next_number, broken) = rows
    assert (number, next_number) == (3, 7), "the mark of a document is not a sentence"
    assert rows.values(sentence) == {"words": ["EU", "#"], "tags": ["B-ORG", "O"]}
    assert rejection(rows, broken) == "wrong_columns"


@pytest.mark.parametrize(
    ("text", "columns", "values"),
    [
        (
            "New York\tB-LOC\nis\tO\n",
            ["words", "tags"],
            {"words": ["New York", "is"], "tags": ["B-LOC", "O"]},
        ),
        ("EU  B-ORG \n", ["words", "tags"], {"words": ["EU"], "tags": ["B-ORG"]}),
        ("EU\nrejects\n", ["words"], {"words": ["EU", "rejects"]}),
    ],
)
def test_the_first_line_tells_what_is_between_cells(text, columns, values):
    rows = rows_of(ConllRows, text)
    ((_, sentence),) = rows
    found = rows.values(sentence)
    assert rows.columns == columns
    assert {name: found[name] for name in columns} == values


def test_universal_dependencies_have_comments_and_ranges():
    rows = rows_of(ConlluRows, CONLLU)
    assert rows.columns == ["words", "tags"]
    (number, sentence), (_, comment) = rows
    assert number == 1
    assert rows.values(sentence) == {"words": ["do", "n't"], "tags": ["AUX", "PART"]}
    assert rejection(rows, comment) == "empty_text"


def test_a_file_without_sentences_has_no_rows():
    assert list(rows_of(ConllRows, "\n\n-DOCSTART-\n")) == []
