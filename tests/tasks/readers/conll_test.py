import pytest

from firth.tasks.readers import RefusedFileError, read_file

CONLL_2000 = "Confidence NN B-NP\nin IN B-PP\n\nthe DT B-NP\npound NN I-NP\n"
CONLL_2003 = (
    "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\n-DOCSTART- -X- O O\n\n. . O O\n"
)
WNUT = "@paul\tO\nIO\tB-product\n\t\n#5\tO\n\n"
CONLLU = """# newdoc id = a
# sent_id = a-1
# text = I don't # know
1\tI\ti\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
3.1\tnever\t_\t_\t_\t_\t_\t_\t_\t_
4\tknow\tknow\tVERB\tVB\t_\t0\troot\t_\t_

# sent_id = a-2
1\tNew York\tNew York\tPROPN\tNNP\t_\t0\troot\t_\t_
"""


def read(name, text, path, **options):
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return read_file(name, str(path), **options)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("conll2000", CONLL_2000, [(1, "Confidence in", "B-NP B-PP"), (4, "the pound", "B-NP I-NP")]),
        ("conll2003", CONLL_2003, [(3, "EU rejects", "B-ORG O"), (8, ".", "O")]),
        ("wnut17", WNUT, [(1, "@paul IO", "O B-product"), (4, "#5", "O")]),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences(name, text, expected, end, tmp_path):
    found = read(name, text.replace("\n", end), tmp_path / "a")
    assert [(r.line, " ".join(r.texts["words"]), " ".join(r.label)) for r in found.records] == expected
    assert found.rejected == []
    assert [record.id for record in found.records] == [str(line) for line, _, _ in expected]


def test_universal_dependencies_skip_ranges_and_empty_nodes(tmp_path):
    found = read("ud_english_ewt", CONLLU, tmp_path / "a")
    assert [(r.id, r.texts["words"], r.label) for r in found.records] == [
        ("a-1", ("I", "do", "n't", "know"), ("PRON", "AUX", "PART", "VERB")),
        ("a-2", ("New York",), ("PROPN",)),
    ]


def test_white_space_that_is_no_separator_stays_in_a_word(tmp_path):
    (record,) = read("conll2000", "10\u00a0000 CD B-NP\na\u2028b SYM O\n", tmp_path / "a").records
    assert record.texts["words"] == ("10\u00a0000", "a\u2028b")


@pytest.mark.parametrize(
    ("bad", "reason", "detail"),
    [
        ("a NN B-NP\nb NN\n", "wrong_columns", "line 4 has 2 columns, not 3: 'b NN'"),
        ("a NN B-NP extra\n", "wrong_columns", "line 3 has 4 columns"),
        ("a NN B-NPP\n", "unknown_label", "unknown tag 'B-NPP'; did you mean B-"),
        ("caf\udce9 NN B-NP\n", "not_utf8", "not UTF-8"),
        (" NN B-NP\n", "empty_text", "a word is empty"),
    ],
)
def test_bad_sentences_are_counted(bad, reason, detail, tmp_path):
    found = read("conll2000", f"x NN B-NP\n\n{bad}\ny NN O\n", tmp_path / "a")
    assert len(found.records) == 2
    assert [(each.reason, each.line) for each in found.rejected] == [(reason, 3)]
    assert detail in found.rejected[0].detail


def test_sentences_without_tags(tmp_path):
    (record,) = read("wnut17", "IO\nrocks\n", tmp_path / "a", labelled=False).records
    assert (record.texts["words"], record.label) == (("IO", "rocks"), None)
    with pytest.raises(RefusedFileError, match=r"line 1 .*1 columns.* 2"):
        read("wnut17", "IO\nrocks\n", tmp_path / "a")


def test_two_sentences_of_one_id(tmp_path):
    found = read("ud_english_ewt", CONLLU.replace("a-2", "a-1"), tmp_path / "a")
    assert found.counts == {"duplicate_id": 1}
