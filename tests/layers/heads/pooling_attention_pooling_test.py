"""Attention pooling, next to each document alone."""

import keras
import numpy as np

from firth.layers import AttentionPooling
from tests.layers.inputs import WIDTH, document_ids, hidden


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


def test_each_document_is_weighted_by_its_own_states():
    pooling, states, ids = AttentionPooling(WIDTH, initializer_stddev=1.0, seed=3), hidden(0), document_ids()
    found = numpy(pooling(states, ids, documents=3))
    kernel, bias = (numpy(each.value) for each in (pooling.dense.kernel, pooling.dense.bias))
    for row, document in np.ndindex(len(ids), 3):
        own = states[row][ids[row] == document + 1]
        scores = np.exp(np.tanh(own @ kernel + bias) @ numpy(pooling.context.value))
        wanted = (scores[:, None] * own).sum(axis=0) / scores.sum() if len(own) else np.zeros(WIDTH)
        np.testing.assert_allclose(found[row, document], wanted, atol=1e-5)
    means = numpy(AttentionPooling(WIDTH, initializer_stddev=1e-9)(states, ids, documents=3))
    np.testing.assert_allclose(means[1, 0], states[1].mean(axis=0), atol=1e-5)
    assert np.abs(found[1, 0] - means[1, 0]).max() > 0.01
