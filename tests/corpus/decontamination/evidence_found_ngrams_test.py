import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from firth.corpus.decontamination.evidence import SUFFIX, load_found
from firth.storage.tensor_files import write_tensors
from tests.corpus.decontamination.made_evidence import found_ngrams

TEXTS = st.lists(st.text("abc ", max_size=24), max_size=5)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(TEXTS, TEXTS, st.integers(1, 3))
def test_texts_are_found_as_by_a_naive_search(examples, corpus, size):
    def ngrams(text):
        words = text.split()
        return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}

    held = set().union(*map(ngrams, corpus))
    known = found_ngrams(examples, corpus, size)
    found = known.look_up(examples)
    assert found.found.tolist() == [bool(ngrams(each) & held) for each in examples]
    assert found.searched.tolist() == [bool(ngrams(each)) for each in examples]
    (row,) = known.benchmarks or [{"examples_found": 0}]
    assert row["examples_found"] == found.found.sum()


def test_a_text_is_found_in_other_columns_case_and_punctuation(tmp_path):
    held, other = "Call me Ishmael, some years ago", "never mind how long precisely"
    found_ngrams([f"{held} yes", other], [f"He said: {held.upper()}!"]).save(tmp_path)
    known = load_found(tmp_path / f"decontaminate{SUFFIX}")
    assert (known.step, known.action, known.ngram_words) == ("decontaminate", "keep", 3)
    assert known.benchmarks == [{"benchmark": "exam", "examples": 2, "examples_found": 1}]
    texts = ["another column; call me -- ishmael", other, "a text that nobody looked for", "me, ishmael"]
    found = known.look_up(texts)
    assert found.found.tolist() == [True, False, False, False]
    assert found.searched.tolist() == [True, True, False, False]


def test_a_file_of_another_format_is_refused(tmp_path):
    write_tensors(tmp_path / "a", {}, [], {"format": "0"})
    with pytest.raises(ValueError, match="format 1"):
        load_found(tmp_path / "a")


def test_nothing_to_look_for_finds_nothing():
    known = found_ngrams([], ["any text of words"])
    assert not np.any(known.look_up(["any text of words"]))
