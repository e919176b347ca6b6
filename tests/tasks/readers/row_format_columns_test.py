import csv
import gzip
import io
import json
import tempfile

import pytest
from hypothesis import given, settings, strategies as st

from firth.recipes.tasks.data import ColumnData
from firth.tasks.readers import (
    ChoiceLabels,
    ClassLabels,
    NumberLabels,
    RefusedFileError,
    TagLabels,
    TextLabels,
    read_columns,
)

CSV = 'id,text,label\n7,"A ""fine"", long\nfilm",good\n\n8,Dull,bad\n'


def written(folder, content, name="a.csv"):
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
    (folder / name).write_bytes(data)
    return str(folder / name)


def test_a_csv_of_two_columns(tmp_path):
    found = read_columns(written(tmp_path, CSV), {"text": "text"})
    assert found.labels == ("bad", "good")
    assert [(r.texts["text"], r.label, r.id, r.line) for r in found.records] == [
        ('A "fine", long\nfilm', "good", "2", 2),
        ("Dull", "bad", "5", 5),
    ]
    found = read_columns(written(tmp_path, CSV), {"text": "text"}, id_column="id")
    assert [record.id for record in found.records] == ["7", "8"]


TEXTS = st.text(st.sampled_from('ab,"\n\r;é\u2028 '), min_size=1, max_size=6).filter(
    lambda text: text.strip()
)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.sampled_from(["x", "y"])), min_size=1, max_size=6), st.booleans())
def test_what_pythons_writer_quotes_is_read(rows, is_quoted):
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL)
    writer.writerows([("text", "label"), *rows])
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(out.getvalue().encode())
        file.flush()
        found = read_columns(file.name, {"text": "text"}, labels=ClassLabels(("x", "y")))
    assert [(r.texts["text"], r.label) for r in found.records] == rows


@pytest.mark.parametrize("ending", [".jsonl", ".tsv", ".csv.gz"])
def test_other_endings(ending, tmp_path):
    rows = [{"a": "one", "b": "two", "label": "x"}, {"a": "three", "b": "four", "label": "y"}]
    separator = "\t" if ending == ".tsv" else ","
    content = "\n".join([separator.join(rows[0]), *(separator.join(row.values()) for row in rows)])
    if ending == ".jsonl":
        content = "\n".join(map(json.dumps, rows))
    data = content.encode()
    path = written(tmp_path, gzip.compress(data) if ending.endswith("gz") else data, f"a{ending}")
    found = read_columns(path, {"text": "a", "pair": "b"})
    assert [(r.texts, r.label) for r in found.records] == [
        ({"text": "one", "pair": "two"}, "x"),
        ({"text": "three", "pair": "four"}, "y"),
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("text,label\na,x\nb,x\n", "all 2 records have the label 'x'; a task needs two classes"),
        ("text,lable\na,x\n", "there is no column 'label' in line 1; did you mean lable"),
        ("Text,label\na,x\n", "there is no column 'text' in line 1; did you mean Text"),
        ("text,text,label\na,b,x\n", "two columns are named 'text'"),
        ("", "no line that names the columns"),
        ("text,label\n", "there are no records"),
        (
            'text,label\nfine,x\n"never closes,y\nmore,x\nand more,y\n',
            "line 3: .*read up to line 5; does a quot",
        ),
        ('text,label\n"a" b,x\n', 'line 2: .*a " within a text'),
        ('text,label\n"opens,x\n"closes",y\n', "line 2: "),
    ],
)
def test_a_file_that_would_be_guessed_at_is_refused(content, problem, tmp_path):
    with pytest.raises(RefusedFileError, match=problem):
        read_columns(written(tmp_path, content), {"text": "text"})


LONG = "a" * (2**17 + 1)


@pytest.mark.parametrize("cell", [LONG, f'"{LONG}\n"', "a\0b", '"a\n\0"'])
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_long_cell_and_a_nul_cost_their_own_record(cell, ending, tmp_path):
    separator = "\t" if ending == ".tsv" else ","
    rows = [("text", "label"), ("first", "x"), (cell, "y"), ("last", "y")]
    path = written(tmp_path, "".join(f"{separator.join(row)}\n" for row in rows), f"a{ending}")
    found = read_columns(path, {"text": "text"}, quoted=True if ending == ".tsv" else None)
    assert [(r.texts["text"], r.label) for r in found.records] == [("first", "x"), ("last", "y")]
    assert [(r.reason, r.line) for r in found.rejected] == [("nul" if "\0" in cell else "long_cell", 3)]


TABLE = "text\tlabel\nfine\tx\n{}\ty\n"


@pytest.mark.parametrize(
    ("cell", "quoted", "read"),
    [
        ('"a ""fine"" film"', True, 'a "fine" film'),
        ('"two\nlines"', True, "two\nlines"),
        ('"a\tb"', True, "a\tb"),
        ('"a film"', False, '"a film"'),
        ('"opens', False, '"opens'),
        ('"Fine" he said', None, '"Fine" he said'),
        ('5" wide', None, '5" wide'),
    ],
)
def test_quotation_marks_in_a_tsv_are_read_as_is_said(cell, quoted, read, tmp_path):
    path = written(tmp_path, TABLE.format(cell), "a.tsv")
    found = read_columns(path, {"text": "text"}, quoted=quoted)
    assert [record.texts["text"] for record in found.records] == ["fine", read]


@pytest.mark.parametrize("cell", ['"a film"', '"a ""fine"" film"', '"two\nlines"', '"opens', '""'])
def test_a_tsv_whose_quotation_marks_may_mean_two_things_is_refused(cell, tmp_path):
    path = written(tmp_path, TABLE.format(cell), "a.tsv")
    with pytest.raises(RefusedFileError, match=r"a\.tsv: line 3: .*data\.quoted: true.*data\.quoted: false"):
        read_columns(path, {"text": "text"})


def test_quoted_is_said_of_a_tsv(tmp_path):
    assert ColumnData(train="a.csv", eval="b.tsv.gz", quoted=False).quoted is False
    with pytest.raises(ValueError, match="quoted: True is about tsv files"):
        ColumnData(train="a.csv", eval="b.jsonl", quoted=True)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    with pytest.raises(RefusedFileError, match=r"contains a NUL; .*spreadsheet"):
        read_columns(written(tmp_path, b"PK\3\4\0\0\0\n\0\0\n"), {"text": "text"})


def test_bad_rows_are_counted_with_the_line_that_they_begin_in(tmp_path):
    content = 'text,label\n"two\nlines",x\nno label,\n ,y\na,b,c\ncaf\udce9,y\nfine, y \n'
    found = read_columns(written(tmp_path, content), {"text": "text"})
    assert [(each.reason, each.line) for each in found.rejected] == [
        ("no_label", 4),
        ("empty_text", 5),
        ("wrong_columns", 6),
        ("not_utf8", 7),
    ]
    assert [(r.line, r.label) for r in found.records] == [(2, "x"), (8, "y")]


def test_an_id_that_is_not_utf8_is_rejected(tmp_path):
    path = written(tmp_path, "id,text,label\ncaf\udce9,a,x\ncafé,b,y\n")
    found = read_columns(path, {"text": "text"}, id_column="id", labels=ClassLabels())
    assert [(each.reason, each.line, each.detail) for each in found.rejected] == [
        ("not_utf8", 2, "the id is not UTF-8")
    ]
    assert [record.id for record in found.records] == ["café"]


def test_labels_of_the_training_file_hold_for_another(tmp_path):
    path = written(tmp_path, "text,label\na,good\nb,goood\n")
    found = read_columns(path, {"text": "text"}, labels=ClassLabels(("bad", "good")))
    assert found.labels == ("bad", "good")
    assert [(each.reason, each.line) for each in found.rejected] == [("unknown_label", 3)]
    assert "did you mean good?" in found.rejected[0].detail


def test_numbers_targets_and_no_labels(tmp_path):
    path = written(tmp_path, "a,1.5\nb,inf\nc,x\nd,1_000\ne,-1e39\n")
    found = read_columns(path, {"text": "s"}, label="score", labels=NumberLabels(), header=("s", "score"))
    assert [record.label for record in found.records] == [1.5]
    assert found.counts == {"label_not_a_number": 3, "label_out_of_range": 1}
    path = written(tmp_path, "article,highlights\nLong.,Short.\nLong., \n")
    found = read_columns(path, {"text": "article"}, label="highlights", labels=TextLabels())
    assert [record.label for record in found.records] == ["Short."]
    assert found.counts == {"empty_text": 1}
    (record, _) = read_columns(path, {"text": "article"}, label=None).records
    assert record.label is None


def test_words_and_tags(tmp_path):
    lines = [
        {"words": ["I", "go"], "tags": ["P", "V"]},
        {"words": ["I", "go"], "tags": ["P"]},
        {"words": [], "tags": []},
        {"words": "I go", "tags": "P W"},
        {"words": "I go", "tags": 5},
    ]
    path = written(tmp_path, "\n".join(map(json.dumps, lines)), "a.jsonl")
    found = read_columns(path, {"words": "words"}, label="tags", labels=TagLabels(("P", "V")))
    assert [(r.texts["words"], r.label) for r in found.records] == [(("I", "go"), ("P", "V"))]
    assert [(each.reason, each.line) for each in found.rejected] == [
        ("unequal_words_and_tags", 2),
        ("empty_text", 3),
        ("unknown_label", 4),
        ("no_label", 5),
    ]


def test_choices_are_a_list_or_several_columns(tmp_path):
    path = written(tmp_path, "choices,label\nyes|no,5\n")
    with pytest.raises(RefusedFileError, match=r"'choices' .*'yes\|no'"):
        read_columns(path, {"choices": "choices"}, labels=ChoiceLabels())
    path = written(tmp_path, "a,b,label\nyes,no,1\nyes,no,2\n")
    found = read_columns(path, {"choices": ("a", "b")}, labels=ChoiceLabels())
    assert [(r.texts["choices"], r.label) for r in found.records] == [(("yes", "no"), 1)]
    assert found.counts == {"unknown_label": 1}
    lines = [{"c": ["yes", "no"], "label": 0}, {"c": "yes", "label": 0}, {"c": [], "label": 0}]
    path = written(tmp_path, "\n".join(map(json.dumps, lines)), "a.jsonl")
    found = read_columns(path, {"choices": "c"}, labels=ChoiceLabels())
    assert [(r.texts["choices"], r.label) for r in found.records] == [(("yes", "no"), 0)]
    assert found.counts == {"not_a_list": 1, "empty_text": 1}


def test_a_role_of_one_text_is_not_a_list(tmp_path):
    lines = [{"t": ["a", "b"], "label": "x"}, {"t": "a", "label": "x"}]
    path = written(tmp_path, "\n".join(map(json.dumps, lines)), "a.jsonl")
    found = read_columns(path, {"text": "t"}, labels=ClassLabels(("x", "y")))
    assert [r.texts["text"] for r in found.records] == ["a"]
    assert [(each.reason, each.line) for each in found.rejected] == [("not_text", 1)]
    with pytest.raises(ValueError, match=r"'text' .*column"):
        read_columns(path, {"text": ("t", "u")})


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(RefusedFileError, match=r"'\.cvs' .*\.csv"):
        read_columns(written(tmp_path, CSV, "a.cvs"), {"text": "text"})


def test_an_id_column_has_an_id_in_each_row(tmp_path):
    path = written(tmp_path, "id,text,label\n3,a,x\n,b,y\n5,c,y\n")
    found = read_columns(path, {"text": "text"}, id_column="id")
    assert [record.id for record in found.records] == ["3", "5"]
    assert [(each.reason, each.line) for each in found.rejected] == [("no_id", 3)]


def test_a_misspelt_id_column_or_role_is_refused(tmp_path):
    with pytest.raises(RefusedFileError, match=r"'idd' .*line 1; .*\bid\b"):
        read_columns(written(tmp_path, CSV), {"text": "text"}, id_column="idd")
    path = written(tmp_path, '{"text": "a", "label": "x"}\n', "a.jsonl")
    with pytest.raises(RefusedFileError, match=r":1: .*'id'"):
        read_columns(path, {"text": "text"}, id_column="id")
    with pytest.raises(ValueError, match=r"'txt' .*; .*\btext\b"):
        read_columns(path, {"txt": "text"})


NO_TAGS = {
    "lemmas": "".join(f"Word{n} word{n}\n" for n in range(6)),
    "numbers": "a 0.5\nb 1.25\n\nc 3\nd 17\n",
    "values": "".join(f"the v{n}\n" + "\n" * (n % 9 == 8) for n in range(60)),
}


@pytest.mark.parametrize("case", NO_TAGS)
def test_a_file_whose_last_column_is_no_tags_is_refused_with_its_line(tmp_path, case):
    path = written(tmp_path, f"# a comment of several cells\n{NO_TAGS[case]}", "words.conll")
    with pytest.raises(RefusedFileError, match=r"words\.conll: line 2: .* tags .*different values"):
        read_columns(path, {"words": "words"}, label="tags", labels=TagLabels())


def test_tags_of_a_small_file_are_believed(tmp_path):
    path = written(tmp_path, "The DET\ncat NOUN\nsat VERB\non ADP\nmats NOUN\n. PUNCT\n", "pos.bio")
    (record,) = read_columns(path, {"words": "words"}, label="tags", labels=TagLabels()).records
    assert record.label == ("DET", "NOUN", "VERB", "ADP", "NOUN", "PUNCT")
