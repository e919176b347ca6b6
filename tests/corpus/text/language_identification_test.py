import random

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from firth.corpus.filters.language import identify


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
    texts += ["".join(random.Random(seed).choices("aeinrst äßéяぁ", k=40)) for seed in range(200)]
    for text in texts:
        language, probability = reference.classify(text, datatype="uint32")
        found = identify(text)
        assert found[0] == language
        assert found[1] == pytest.approx(float(probability), rel=1e-6)
