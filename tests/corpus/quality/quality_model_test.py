import numpy as np
import pytest

from firth.corpus.documents.errors import CorpusError
from firth.corpus.quality.quality_model import (
    QualityModel,
    hash_ngrams,
    load_quality_model,
    save_quality_model,
    train,
)
from tests.corpus.quality.texts import HASHING, examples


def test_a_saved_model_scores_the_same_and_nothing_is_unpickled(tmp_path):
    model, measures = train(examples(), HASHING, 1.0, 0.1)
    save_quality_model(model, measures, str(tmp_path))
    loaded = load_quality_model(str(tmp_path))
    vectors = hash_ngrams(["a white whale", "buy cheap now", ""], HASHING)
    assert loaded.hashing == HASHING
    assert loaded.scores(vectors).tolist() == model.scores(vectors).tolist()
    assert loaded.scores(vectors)[0] > 0.5 > loaded.scores(vectors)[1]
    save_quality_model(QualityModel(HASHING, model.weights[:5], 0.0), {}, str(tmp_path))
    with pytest.raises(CorpusError, match=r"\(5,\) for 262144 buckets"):
        load_quality_model(str(tmp_path))
    np.savez(tmp_path / "weights.npz", weights=np.array([{}], object), bias=0.0)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load_quality_model(str(tmp_path))
