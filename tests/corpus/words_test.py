"""Words as documents are compared by: what a reader would not see makes no difference."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.corpus.bad_words import BadWords
from firth.corpus.benchmarks import BenchmarkExample
from firth.corpus.decontaminate import cut_ngrams
from firth.corpus.minhash import MinHash
from firth.corpus.ngram_index import NgramIndex
from firth.corpus.steps import Drop
from firth.corpus.words import comparable_text, comparable_words
from firth.recipes.filters import BadWordsStep, WordList
from tests.corpus.duplicates_helpers import run_steps
from tests.corpus.helpers import document
from tests.corpus.sentence_duplicates_test import LINES

PLAIN = "The straße café was opened by Mr Sigma ΣΑΣ in 1851"
FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
# The same to a reader.
DISGUISES = {
    "zero-width space": PLAIN.replace("a", "a\u200b"),
    "zero-width joiner": PLAIN.replace("e", "\u200de\u200c"),
    "soft hyphen": PLAIN.replace("p", "\u00adp"),
    "byte order mark": f"\ufeff{PLAIN}",
    "right-to-left mark": PLAIN.replace(" ", " \u200f"),
    "variation selector": PLAIN.replace("o", "o\ufe0f"),
    "full width": PLAIN.translate(FULL_WIDTH),
    "decomposed": unicodedata.normalize("NFD", PLAIN),
    "capitals": PLAIN.upper(),
    "no-break space": PLAIN.replace(" ", "\u00a0"),
    "ideographic space": PLAIN.replace(" ", "\u3000"),
    "control character": PLAIN.replace("w", "\x00w"),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_what_a_reader_does_not_see_makes_no_difference(name, tmp_path):
    text = DISGUISES[name]
    assert comparable_words(text) == comparable_words(PLAIN)
    index = NgramIndex([BenchmarkExample("quiz", "1", PLAIN)], size=8)
    assert len(list(index.find([f"Before it. {text}. After it."]))) == len(list(index.find([PLAIN]))) == 4
    _, buckets = MinHash().buckets([PLAIN, text])
    assert (buckets[0] == buckets[1]).all()
    (tmp_path / "list").write_text("opened by\nsigma\n")
    step = BadWords(BadWordsStep(kind="bad_words", lists=(WordList(path=str(tmp_path / "list")),)))
    assert step.decide(document(text)) == Drop("bad_word")
    (tmp_path / "list").write_text(f"{text.split()[4]}\n")
    step = BadWords(BadWordsStep(kind="bad_words", lists=(WordList(path=str(tmp_path / "list")),)))
    assert step.decide(document(PLAIN)) == Drop("bad_word")


def test_a_disguised_line_is_a_duplicate_and_what_is_written_is_the_documents_own_text(tmp_path):
    texts = [f"{DISGUISES['full width']}\none", f"{PLAIN}\n{DISGUISES['soft hyphen']}"]
    documents = [document(text, "a", f"source{i}") for i, text in enumerate(texts)]
    kept, _ = run_steps(tmp_path, documents, LINES, sources=["source0", "source1"])
    assert [each.text for each in kept] == texts[:1]


def test_accents_and_letters_of_other_scripts_count():
    assert comparable_words("cote côté") == ["cote", "côté"]
    assert comparable_words("की क") == ["की", "क"]


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40))
def test_words_are_those_of_each_token_and_stay_as_they_are(text):
    words = comparable_words(text)
    assert words == [word for token in text.split() for word in comparable_words(token)]
    assert comparable_words(" ".join(words)) == words
    assert comparable_text(comparable_text(text)) == comparable_text(text)
    assert all(word for word in words)


def test_a_ligature_of_several_words_is_cut_whole():
    text = "one \ufdfa two three four"
    words = comparable_words(text)
    assert len(words) == 8
    assert cut_ngrams(text, [3], size=3, margin=0) == ["one", "three four"]
    assert cut_ngrams(text, [0], size=2, margin=0) == ["two three four"]
