"""Which files are read as classifiers of scikit-learn, and their scores."""

import pickle

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import StandardScaler

from firth.corpus.documents.errors import CorpusError
from firth.corpus.quality.scoring_models import FastText, ScikitLearn
from tests.corpus.quality.models import GOLDEN, MADE, fasttext_step, scikit_learn_step, train_pipeline
from tests.corpus.quality.texts import BAD, GOOD, text


class OfOnesOwn(ClassifierMixin, BaseEstimator):
    classes_ = (1, 2)

    def predict_proba(self, texts):
        import numpy as np

        return np.array([[0.25, 0.75]] * len(texts))


def test_scores_are_those_of_the_model_that_was_written(tmp_path):
    trained, model = train_pipeline(), ScikitLearn.load(scikit_learn_step(tmp_path))
    assert model.labels == ["bad", "good"]
    for words in (GOOD, BAD):
        expected = trained.predict_proba([text(words, 99)])[0]
        scores = [model.score(text(words, 99), label) for label in model.labels]
        assert scores == pytest.approx(expected.tolist(), abs=1e-12)


def test_other_types_are_loaded_only_where_the_recipe_trusts_them(tmp_path):
    name = f"{OfOnesOwn.__module__}.OfOnesOwn"
    with pytest.raises(CorpusError, match=rf"model.skops: .*{name}"):
        ScikitLearn(scikit_learn_step(tmp_path, OfOnesOwn(), label="2"))
    model = ScikitLearn.load(scikit_learn_step(tmp_path, OfOnesOwn(), label="2", trusted=(name,)))
    assert (model.labels, model.score("Any.", "2")) == (["1", "2"], 0.75)


def test_nothing_is_unpickled_and_a_scaler_is_not_a_classifier(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (f"{tmp_path}/sprung", "w"))

    step = scikit_learn_step(tmp_path)
    (tmp_path / "model.skops").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(CorpusError, match=r"scikit_learn: .*model.skops: .*skops"):
        ScikitLearn(step)
    assert not (tmp_path / "sprung").exists()
    with pytest.raises(CorpusError, match=r"StandardScaler .*predict_proba"):
        ScikitLearn(scikit_learn_step(tmp_path, StandardScaler()))


@pytest.mark.parametrize("name", ["fasttext", "fasttext_hs"])
def test_scores_are_those_of_fasttext(name):
    model = FastText.load(fasttext_step(name))
    assert model.labels == ["__label__cc", "__label__hq", "__label__weather"]
    for which, sample in MADE["texts"].items():
        for label, expected in MADE["scores"][name][which].items():
            assert model.score(sample, label) == pytest.approx(expected, abs=1e-6)


def test_another_file_is_refused(tmp_path):
    (tmp_path / "model.bin").write_bytes(b"Not a model.")
    with pytest.raises(CorpusError, match=r"fasttext: .*model.bin: .*supervised"):
        FastText(fasttext_step(path=f"{tmp_path}/model.bin"))


def test_a_file_that_was_cut_short_is_refused_by_name(tmp_path):
    (tmp_path / "model.bin").write_bytes((GOLDEN / "fasttext.bin").read_bytes()[:-3])
    said = r"fasttext: .*model.bin: .* 2,226 .* 2,229"
    with pytest.raises(CorpusError, match=said):
        FastText(fasttext_step(path=f"{tmp_path}/model.bin"))
