import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import DocumentStep, Drop, Keep
from firth.recipes.corpus.cleaning import CharactersStep, LengthStep, NormalizeStep
from tests.corpus.helpers import document

NORMALIZE = NormalizeStep(kind="normalize")
LENGTH = LengthStep(kind="length", min_words=2, max_words=3)
CHARACTERS = CharactersStep(kind="characters", min_alphabetic_fraction=0.5, max_mean_word_length=8.0)
TABLE = [
    (NORMALIZE, "as it is", "as it is"),
    (NORMALIZE, " \n margins\t\n", "margins"),
    (NORMALIZE, "a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
    (NORMALIZE, "a\x00b\x1bc\x7fd\x9fe\ufefff\tg", "abcdef\tg"),
    (NORMALIZE, "cafe\u0301 \ufb01ne", "café \ufb01ne"),
    (NormalizeStep(kind="normalize", form="NFKC"), "\ufb01ne", "fine"),
    (NORMALIZE, " \x00\n", Drop("empty")),
    (LENGTH, "one", Drop("too_few_words")),
    (LENGTH, "one  two\nthree", "one  two\nthree"),
    (LENGTH, "one two three four", Drop("too_many_words")),
    (CHARACTERS, "ab 12", "ab 12"),
    (CHARACTERS, "ab 123", Drop("too_few_letters")),
    (CHARACTERS, "Übergrößenträger", Drop("words_too_long")),
    (CHARACTERS, "слово за слово", "слово за слово"),
    (CHARACTERS, "", ""),
]


@pytest.mark.parametrize(("config", "text", "expected"), TABLE)
def test_document_steps(config, text, expected):
    step = STEPS[config.kind](config)
    assert isinstance(step, DocumentStep)
    decision = step.decide(document(text))
    assert decision == (expected if isinstance(expected, Drop) else Keep(document(expected)))
