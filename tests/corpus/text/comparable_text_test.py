"""Words as documents are compared by: what a reader would not see makes no difference."""

import unicodedata

import pytest
from hypothesis import given, settings, strategies as st

from firth.corpus.decontamination.benchmarks import BenchmarkExample
from firth.corpus.decontamination.decontaminate import NgramIndex, cut_ngrams
from firth.corpus.dedup.clusters import MinHash
from firth.corpus.documents.steps import Drop
from firth.corpus.filters.bad_words import BadWords
from firth.corpus.filters.normalize import normalize_text
from firth.corpus.text.comparable_text import comparable_text, comparable_words, normalize
from firth.recipes.corpus.filters import BadWordsStep, WordList
from firth.recipes.corpus.normalization import Normalization
from tests.corpus.dedup.sentence_duplicates_test import LINES
from tests.corpus.duplicates_helpers import run_steps
from tests.corpus.helpers import document

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
    "halfwidth Hangul filler": PLAIN.replace("o", "o\uffa0"),
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


@settings(max_examples=75, deadline=None, derandomize=True)
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


def disorder(form: str, text: str) -> int:
    """Returns how many marks CPython passes by when it sorts them by insertion."""
    passed, before = 0, []
    decomposed = "".join(unicodedata.normalize(form.replace("C", "D"), each) for each in text)
    for rank in map(unicodedata.combining, decomposed):
        before = [*before, rank] if rank else []
        passed += sum(other > rank for other in before)
    return passed


@pytest.mark.parametrize("fold", [comparable_text, lambda text: normalize_text(text, Normalization())])
@pytest.mark.parametrize("marks", ["\u0315\u0300", "\u0315\u0300\uff9e", "\u0344\u0f73"])
def test_many_marks_on_a_letter_are_sorted_in_proportion(fold, marks, monkeypatch):
    given_to_python = []
    plain = unicodedata.normalize
    monkeypatch.setattr(
        unicodedata, "normalize", lambda *given: given_to_python.append(given) or plain(*given)
    )
    text = "a" + marks * (600 // len(marks))
    fold(text)
    monkeypatch.undo()
    assert max(disorder(*given) for given in given_to_python) <= 32 * len(text)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
    st.text("aéᄀ \u0300\u0315\u0323\u0344\u0345\u0f71\u0f73\u093c\u3099\uff9e", min_size=30, max_size=200),
    st.sampled_from(["\u0315\u0300\uff9e", "\u0344\u0f73\u0323", ""]),
)
def test_many_marks_have_unicodes_form(form, text, marks):
    text = text[:20] + marks * 20 + text[20:]
    assert normalize(form, text) == unicodedata.normalize(form, text)


class CountedText(str):
    """A text that counts how often it is passed over."""

    passes = 0

    def replace(self, *replacement):
        CountedText.passes += 1
        return CountedText(super().replace(*replacement))


def test_texts_of_all_symbols_are_passed_over_a_few_times(monkeypatch):
    monkeypatch.setattr(CountedText, "passes", 0)
    symbols = "".join(each for each in map(chr, range(0x3000)) if unicodedata.category(each)[0] in "PS")
    assert comparable_words(CountedText(f"one {symbols} two")) == ["one", "two"]
    assert CountedText.passes <= 100


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text())
def test_comparable_words_have_no_mark_no_space_and_no_capital(text):
    words = comparable_words(text)
    assert comparable_words(" ".join(words)) == words
    assert all(word and word == word.lower() and len(word.split()) == 1 for word in words)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text())
def test_comparable_words_are_those_of_the_text_s_words(text):
    assert [word for each in text.split() for word in comparable_words(each)] == comparable_words(text)
