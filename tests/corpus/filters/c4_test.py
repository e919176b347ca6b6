import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import Drop, Keep
from firth.recipes.corpus.cleaning import Cleaning, Split
from firth.recipes.corpus.filters import (
    C4Step,
)
from tests.corpus.helpers import clean, document

FIVE = "One two three.\nTwo to sea!\nIs it three?\nHe said “four.”\nAnd that is it.\n"
C4_RULES = [
    ({}, FIVE, FIVE[:-1], {}),
    ({}, FIVE.replace("Two to sea!", "Two! Sea"), Drop("too_few_sentences"), {}),
    ({}, f"{FIVE}Four words, no end", FIVE[:-1], {"lines_without_end": 1}),
    ({}, f"{FIVE}And then he said...\nAnd so…", FIVE[:-1], {"lines_without_end": 2}),
    ({}, f"Read on.\n{FIVE}", FIVE[:-1], {"lines_too_few_words": 1}),
    ({}, f"{FIVE}Turn JavaScript on now.", FIVE[:-1], {"lines_javascript": 1}),
    ({}, f"{FIVE}See our Terms of Use.", FIVE[:-1], {"lines_policy": 1}),
    ({}, f"{FIVE}A word {'x' * 1000} of it.", f"{FIVE}A word {'x' * 1000} of it.", {}),
    ({}, f"{FIVE}A word {'x' * 1001} of it.", FIVE[:-1], {"lines_word_too_long": 1}),
    ({}, f"{FIVE}Cited[1] for [[2]3] it.[edit]", f"{FIVE}Cited for  it.", {"citations": 4}),
    ({}, f"{FIVE}Lorem Ipsum it is", Drop("lorem_ipsum"), {}),
    ({}, f"{FIVE}if (a) {{", Drop("curly_bracket"), {}),
    ({"lorem_ipsum": False}, f"{FIVE}A lorem ipsum is.", f"{FIVE}A lorem ipsum is.", {}),
    ({"curly_bracket": False}, f"{FIVE}A pair of {{}}.", f"{FIVE}A pair of {{}}.", {}),
    ({"min_sentences": 6}, FIVE, Drop("too_few_sentences"), {}),
    ({"min_sentences": 6}, f"Two are. {FIVE}", f"Two are. {FIVE[:-1]}", {}),
    ({"min_sentences": 0}, "Home\nNews", Drop("empty"), {}),
    ({"terminal_punctuation": False, "min_words_per_line": 0, "min_sentences": 0}, "a\n\n b", "a\nb", {}),
]  # fmt: skip


@pytest.mark.parametrize(("options", "given", "expected", "counts"), C4_RULES)
def test_c4(options, given, expected, counts):
    decision = STEPS["c4"](C4Step(kind="c4", **options)).decide(document(given))
    if isinstance(expected, Drop):
        assert decision == expected
    else:
        assert decision == Keep(document(expected), counts)


def test_cut_lines_are_counted_in_bytes(tmp_path):
    cleaning = Cleaning(steps=(C4Step(kind="c4"),), split=Split(eval_fraction=0.3))
    texts = [f"{FIVE}That was whale number {i}.\nDía" for i in range(20)]
    documents = [document(each, f"{i}") for i, each in enumerate(texts)]
    report = clean(tmp_path, documents, cleaning)
    (row,) = report["funnel"]
    assert row["documents_in"] == row["documents_kept"] == 20
    assert row["bytes_in"] == sum(each.size for each in documents)
    assert row["bytes_in"] - row["bytes_kept"] == 20 * len("\nDía".encode())
    assert report["counts"] == [{"step": "c4", "source": "docs", "name": "lines_without_end", "count": 20}]
