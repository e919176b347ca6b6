import math

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import Drop, Keep
from firth.corpus.filters.language import identify
from firth.recipes.corpus.filters import (
    LanguageStep,
)
from tests.corpus.helpers import document


def test_language():
    sure = "It was the best of times, it was the worst of times, it was the age of wisdom."
    short = "le chat"
    step = STEPS["language"](LanguageStep(kind="language"))
    assert step.decide(document(sure)) == Keep(document(sure))
    german = "Es war die beste und die schlimmste Zeit, ein Jahrhundert der Weisheit."
    assert step.decide(document(german)) == Drop("other_language")
    language, probability = identify(short)
    for threshold, expected in (
        (probability, Keep(document(short))),
        (math.nextafter(probability, 2), Drop("uncertain_language")),
    ):
        config = LanguageStep(kind="language", languages=(language,), min_probability=threshold)
        assert STEPS["language"](config).decide(document(short)) == expected
    beginning = LanguageStep(kind="language", languages=("de",), max_characters=len(german))
    assert STEPS["language"](beginning).decide(document(german + sure * 9)) == Keep(
        document(german + sure * 9)
    )
