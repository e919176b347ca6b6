import random

from hypothesis import given, settings, strategies as st

from firth.corpus.decontamination import decontaminate as ngram_index
from firth.corpus.decontamination.benchmarks import BenchmarkExample
from firth.corpus.decontamination.decontaminate import Hit, NgramIndex
from tests.corpus.duplicates_helpers import random_words


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.text("abc ", max_size=30), max_size=5), st.text("abc ", max_size=60), st.integers(1, 3))
def test_ngrams_are_found_as_by_a_naive_search(examples, text, size):
    index = NgramIndex([BenchmarkExample("exam", f"{i}", each) for i, each in enumerate(examples)], size)

    def ngrams(words):
        return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]

    known = {ngram for each in examples for ngram in ngrams(each.split())}
    hits = list(index.find(["", text]))
    expected = [i for i, ngram in enumerate(ngrams(text.split())) if ngram in known]
    assert [(hit.text, hit.word) for hit in hits] == [(1, place) for place in expected]
    if examples:
        (row,) = index.table([hit.ngram for hit in hits])
        mine = set(ngrams(text.split()))
        assert row["ngrams"] == len(known)
        assert row["ngrams_found"] == len(known & mine)
        assert [each["id"] for each in row["found"]] == [
            f"{i}" for i, each in enumerate(examples) if mine & set(ngrams(each.split()))
        ]


def test_hashes_that_agree_by_chance_are_told_apart(monkeypatch):
    honest = ngram_index.shingle_hashes

    def poor(words, *arguments):
        hashes, runs = honest(words, *arguments)
        return hashes % 101, runs

    monkeypatch.setattr(ngram_index, "shingle_hashes", poor)
    words = random_words(random.Random(0), 3000)
    index = NgramIndex([BenchmarkExample("exam", f"{i}", " ".join(words[i * 9 :][:9])) for i in range(3)], 5)
    assert len(index._hashes) == 15
    found = index.find([" ".join(words[100:] + words[9:14])])
    assert [hit.word for hit in found] == [2900]


def test_a_hit_names_text_word_and_ngram():
    index = NgramIndex([BenchmarkExample("exam", "1", "a b")], 2)
    assert list(index.find(["x a b", "a B"])) == [Hit(0, 1, 0), Hit(1, 0, 0)]
