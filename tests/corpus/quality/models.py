"""Classifiers in files, for the tests of what reads them."""

import json
import pathlib
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from firth.recipes import FastTextStep, ScikitLearnStep
from tests.corpus.quality.texts import BAD, GOOD, text

GOLDEN = pathlib.Path(__file__).parent / "golden"
MADE = json.loads((GOLDEN / "fasttext.json").read_text())


def fasttext_step(name: str = "fasttext", **settings: Any) -> FastTextStep:
    values = {"label": "__label__hq", "path": str(GOLDEN / f"{name}.bin"), **settings}
    return FastTextStep(kind="fasttext", **values)


def train_pipeline() -> Any:
    texts = [text(words, number) for words in (GOOD, BAD) for number in range(30)]
    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=100)).fit(
        texts, ["good"] * 30 + ["bad"] * 30
    )


def scikit_learn_step(folder: pathlib.Path, model: Any = None, **settings: Any) -> ScikitLearnStep:
    """Returns a step by a model that is trained and written here."""
    import skops.io

    path = folder / "model.skops"
    skops.io.dump(train_pipeline() if model is None else model, path)
    return ScikitLearnStep(kind="scikit_learn", **{"label": "good", "path": str(path), **settings})
