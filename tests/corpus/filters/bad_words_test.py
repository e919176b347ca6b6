import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import Drop, Keep
from firth.recipes.corpus.filters import (
    BadWordsStep,
    WordList,
)
from tests.corpus.helpers import document

BAD = "Darn\nblast it\n\n  fiddle-sticks \n"
BAD_WORDS = [
    ("Oh DARN, he said.", "bad_word"),
    ("He darned his socks.", None),
    ("Blast\nit all.", "bad_word"),
    ("A blast itself.", None),
    ("Oh, fiddle-sticks!", "bad_word"),
    ("Play the fiddle, sticks!", None),
]


@pytest.mark.parametrize(("given", "reason"), BAD_WORDS)
def test_bad_words(tmp_path, given, reason):
    (tmp_path / "en").write_text(BAD)
    step = STEPS["bad_words"](BadWordsStep(kind="bad_words", lists=(WordList(path=f"{tmp_path}/en"),)))
    assert step.decide(document(given)) == (Drop(reason) if reason else Keep(document(given)))


def test_bad_words_of_a_language_and_within_words(tmp_path):
    (tmp_path / "de").write_text("die\n")
    (tmp_path / "ja").write_text("馬鹿\n", encoding="utf-8")
    lists = (
        WordList(path=f"{tmp_path}/de", language="de"),
        WordList(path=f"{tmp_path}/ja", whole_words=False),
    )
    step = STEPS["bad_words"](BadWordsStep(kind="bad_words", lists=lists))
    english = "He did not want to die at sea, and he said so to all of his men."
    assert step.decide(document(english)) == Keep(document(english))
    assert step.decide(document("Es war die beste und die schlimmste Zeit.")) == Drop("bad_word")
    assert step.decide(document("彼は馬鹿だ。")) == Drop("bad_word")
    whole = BadWordsStep(kind="bad_words", lists=(WordList(path=f"{tmp_path}/ja"),))
    assert STEPS["bad_words"](whole).decide(document("彼は馬鹿だ。")) == Drop("bad_word")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "unreadable"), (b" \n\n", "has no entry"), (b"darn\n\xff\n", "line 2: invalid_utf8")],
)
def test_lists_that_cannot_be_used(tmp_path, content, message):
    if content is not None:
        (tmp_path / "words").write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        STEPS["bad_words"](BadWordsStep(kind="bad_words", lists=(WordList(path=f"{tmp_path}/words"),)))
