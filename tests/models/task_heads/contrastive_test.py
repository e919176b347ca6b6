"""The contrastive loss of pairs and of triples, against NumPy."""

import types

import numpy as np
import pytest

from firth import features as names
from firth.models.task_heads.contrastive import ContrastiveHeads
from firth.recipes.tasks.embedding import SentenceEmbedding
from firth.recipes.tasks.forms import BERTForm
from tests.models.backbones.backbone_test import numpy

BATCH, RECORDS, LENGTH, WIDTH, TEMPERATURE = 2, 3, 10, 4, 0.5
HIDDEN = np.random.default_rng(0).normal(size=(BATCH, LENGTH, WIDTH)).astype("float32")
# In row 0 the first texts of records 0 and 2 are the same, in row 1 the second ones of records 0 and 1.
KEYS = np.array([[[1, 2, 3], [4, 5, 6], [1, 7, 8]], [[11, 12, 13], [14, 12, 15], [16, 17, 18]]])
SAME = {0: {(0, 2), (2, 0)}, 1: {(0, 1), (1, 0)}}


def losses_of(vectors):
    """Cross entropy of the right text of each record among those of its row, without others that are right.

    Args:
        vectors: Float array [batch, records, texts, width], of length 1.
    """
    found = np.zeros((BATCH, RECORDS))
    for row, record in np.ndindex(BATCH, RECORDS):
        cosines = vectors[row, :, 1:] @ vectors[row, record, 0]
        seen = [
            cosines[other, text]
            for other, text in np.ndindex(cosines.shape)
            if text or (record, other) not in SAME[row]
        ]
        scores = np.exp(np.array(seen) / TEMPERATURE)
        found[row, record] = np.log(scores.sum()) - cosines[record, 0] / TEMPERATURE
    return found


@pytest.mark.parametrize("texts", [2, 3])
def test_a_right_text_is_compared_with_those_of_its_row(texts):
    task = SentenceEmbedding(form=BERTForm(pooling="first"), negatives=texts == 3, temperature=TEMPERATURE)
    heads = ContrastiveHeads(types.SimpleNamespace(width=WIDTH), task, vocabulary_size=0)
    places = np.arange(RECORDS * texts)[None] + np.array([[0], [1]])
    features = {
        names.POOLED_POSITIONS: places.astype("int32"),
        names.RECORD_WEIGHTS: np.ones((BATCH, RECORDS), "float32"),
        names.RECORD_LABELS: np.ones((BATCH, RECORDS), "float32"),
        names.TEXT_KEYS: KEYS[:, :, :texts].reshape(BATCH, -1),
    }
    logits = heads.logits(lambda features, training: HIDDEN, features)
    (vectors,) = logits.values()
    pooled = np.take_along_axis(HIDDEN, places[:, :, None], axis=1)
    expected = pooled / np.linalg.norm(pooled, axis=-1, keepdims=True)
    np.testing.assert_allclose(numpy(vectors).reshape(expected.shape), expected, rtol=1e-5)
    (made,) = heads.predictions_of(logits, features).values()
    of_texts = expected.reshape(BATCH, RECORDS, texts, WIDTH)
    np.testing.assert_allclose(numpy(made.losses), losses_of(of_texts), rtol=1e-4)
