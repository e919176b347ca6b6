"""Rows of one's own files of tagged words."""

import pytest

from firth.tasks.readers.endings import ConllRows, ConlluRows
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
    ((number, sentence),) = rows
    assert number == 2, "comments alone are not a sentence"
    assert rows.values(sentence) == {"words": ["do", "n't"], "tags": ["AUX", "PART"]}


MULTICONER = (
    "# id 5c6 domain=en\nela _ _ O\n# _ _ B-OtherPROD\n# _ _ I-OtherPROD\nparis _ _ B-HumanSettlement\n\n"
    "# id 9aa domain=en\n10\u00a0000 _ _ O\n"
)
UNER = (
    "# newdoc id = a\n# sent_id = a-1\n# text = Don't go, Ada\n"
    "1-2\tDon't\t_\t-\t-\n1\tDo\tO\t-\tmaria\n2\tn't\tO\t-\tmaria\n3\t#\tO\t-\tmaria\n4\tAda\tB-PER\t-\tmaria\n\n"
    "# sent_id = a-2\n1\tPrague\tB-LOC\t-\tmaria\n"
)


@pytest.mark.parametrize(("text", "values"), [
    (MULTICONER, [
        (["ela", "#", "#", "paris"], ["O", "B-OtherPROD", "I-OtherPROD", "B-HumanSettlement"]),
        (["10\u00a0000"], ["O"]),
    ]),
    (UNER, [(["Do", "n't", "#", "Ada"], ["O", "O", "O", "B-PER"]), (["Prague"], ["B-LOC"])]),
    ("# a comment here\nEU U-ORG\n# U-ORG\n\u3000x O\n", [(["EU", "#", "\u3000x"], ["U-ORG", "U-ORG", "O"])]),
    ("a NN x\nb VB y\n", [(["a", "b"], ["x", "y"])]),
], ids=["MultiCoNER", "Universal NER", "hash", "no scheme"])  # fmt: skip
def test_comments_numbers_and_the_column_of_tags_are_read_from_the_file(text, values):
    rows = rows_of(ConllRows, text)
    found = [rows.values(sentence) for _, sentence in rows]
    assert [(each["words"], each["tags"]) for each in found] == values


def test_a_file_without_sentences_has_no_rows():
    assert list(rows_of(ConllRows, "\n\n-DOCSTART-\n")) == []
