"""Arguments that cannot work raise, and the message repeats what was received."""

import numpy as np
import pytest

from firth import layers

CASES = [
    (lambda: layers.MaskedTransformer(2, width=10, heads=3), "heads=3, width=10"),
    (lambda: layers.MaskedTransformer(0, width=8, heads=2), "layers=0"),
    (lambda: layers.MaskedTransformer(2, width=8, heads=0), "heads=0"),
    (lambda: layers.MaskedTransformer(2, width=8, heads=2, feed_forward_width=-1), "inner_width=-1"),
    (lambda: layers.MaskedTransformer(2, width=8, heads=2, dropout=1.5), "rate=1.5"),
    (lambda: layers.SelfAttention(width=8, heads=2.0), r"heads=2\.0"),
    (lambda: layers.FeedForward(8, 32, activation="gule"), "activation='gule'"),
    (lambda: layers.Embedding(rows=0, width=4), "rows=0"),
    (lambda: layers.Dropout(-0.1), r"rate=-0\.1"),
    (lambda: layers.MaskedLMHead(vocabulary_size=True, width=4), "vocabulary_size=True"),
    (lambda: layers.Pooler(width="4"), "width='4'"),
    (
        lambda: layers.SelfAttention(8, 2)(np.ones((1, 2, 6)), np.zeros((1, 1, 2, 2))),
        r"width=8, .*\(1, 2, 6\)",
    ),
    (lambda: layers.FeedForward(8, 32)(np.ones((1, 2, 6))), r"width=8, .*\(1, 2, 6\)"),
    (lambda: layers.Pooler(8)(np.ones((1, 2, 6)), np.zeros((1, 1), "int32")), r"width=8, .*\(1, 2, 6\)"),
]


@pytest.mark.parametrize("make, message", CASES)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()
