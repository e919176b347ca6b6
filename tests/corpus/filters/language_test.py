import json
import math
import random

import numpy as np
import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import Drop, Keep
from firth.corpus.filters.language import identify
from firth.recipes.corpus.filters import (
    LanguageStep,
)
from tests.corpus.helpers import document
from tests.shared_data import shared_data


def test_language():
    sure = "It was the best of times, it was the worst of times, it was the age of wisdom."
    short = "le chat"
    step = STEPS["language"](LanguageStep(kind="language"))
    assert step.decide(document(sure)).document == document(sure)
    german = "Es war die beste und die schlimmste Zeit, ein Jahrhundert der Weisheit."
    assert step.decide(document(german)) == Drop("other_language")
    language, probability = identify(short)
    for threshold, expected in (
        (
            probability,
            Keep(document(short), metadata={"language": language, "probability": round(probability, 6)}),
        ),
        (math.nextafter(probability, 2), Drop("uncertain_language")),
    ):
        config = LanguageStep(kind="language", languages=(language,), min_probability=threshold)
        assert STEPS["language"](config).decide(document(short)) == expected


# A table of contents in capitals, which is longer than what is read of a text.
CONTENTS = "".join(f"BOOK {number}.--AN UPRIGHT MAN\nCHAPTER {number} M. MYRIEL\n" for number in range(300))
PROSE = "In 1815 he was the bishop of D., an old man who had lived there for many years.\n"


def test_a_book_with_a_table_of_contents_in_capitals_is_english():
    step = STEPS["language"](LanguageStep(kind="language"))
    assert len(CONTENTS) > step._config.max_characters
    for text in (CONTENTS + PROSE * 1000, PROSE * 3, (PROSE * 3).upper(), PROSE * 500 + CONTENTS):
        assert step.decide(document(text)).document == document(text)


def test_a_language_is_that_of_the_whole_text_and_not_of_its_beginning():
    german = "Es war die beste und die schlimmste Zeit, ein Jahrhundert der Weisheit.\n"
    step = STEPS["language"](LanguageStep(kind="language", languages=("de",)))
    text = PROSE * 200 + german * 2000
    assert step.decide(document(text)).document == document(text)
    assert step.decide(document(german * 200 + PROSE * 2000)) == Drop("other_language")


@pytest.mark.repeated
@pytest.mark.needs_data("gutenberg_books", twin="test_a_book_with_a_table_of_contents_in_capitals_is_english")
def test_real_books_are_english_from_their_contents_on():
    step = STEPS["language"](LanguageStep(kind="language"))
    for path in sorted(shared_data("gutenberg_books").glob("*.txt")):
        _, _, text = path.read_bytes().decode("utf-8-sig").partition("CONTENTS")
        assert isinstance(step.decide(document(text or path.read_text("utf-8-sig"))), Keep), path


@pytest.mark.repeated
@pytest.mark.needs_data("c4", twin="test_a_book_with_a_table_of_contents_in_capitals_is_english")
def test_real_pages_are_english_in_capitals_too():
    with open(shared_data("c4") / "c4_docs.jsonl", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for _, line in zip(range(300), lines)]
    step = STEPS["language"](LanguageStep(kind="language"))
    kept = [
        [isinstance(step.decide(document(each)), Keep) for each in (text, text.upper())] for text in texts
    ]
    assert np.sum(kept, axis=0).tolist() == [299, 299]


def test_the_language_model_answers_as_the_package_does():
    reference = LanguageIdentifier.from_pickled_model(MODEL_FILE, norm_probs=True)
    texts = [
        "",
        "a",
        "le chat",
        "Es war die beste Zeit.",
        "彼は馬鹿だ。",
        "\x00\ud800",
        "привет, мир",
        "1 2 3",
        "ab" * 40_000,
    ]
    texts += ["".join(random.Random(seed).choices("aeinrst äßéяぁ", k=40)) for seed in range(60)]
    for text in texts:
        language, probability = reference.classify(text, datatype="uint32")
        found = identify(text)
        assert found[0] == language
        assert found[1] == pytest.approx(float(probability), rel=1e-6)
