"""Arguments that cannot work raise, and the message repeats what was received."""

import numpy as np
import pytest

from firth import layers
from firth.layers.elements.norms import build_norm

CASES = [
    (
        lambda: layers.MaskedTransformer({"width": 10, "attention": {"heads": 3}}),
        "attention.heads: 3 does not divide width: 10",
    ),
    (lambda: layers.MaskedTransformer({"layers": 0}), "layers: must be greater than or equal to 1, not 0"),
    (lambda: layers.MaskedTransformer({"attention": {"heads": 0}}), "attention.heads: .*, not 0"),
    (lambda: layers.FeedForward(width=8, inner_width=-1), "inner_width=-1"),
    (lambda: layers.CausalTransformer({"dropout": 1.5}), r"dropout: .*, not 1\.5"),
    (lambda: layers.Attention(width=8, heads=2.0), r"heads=2\.0"),
    (lambda: layers.Attention(width=8, heads=4, key_value_heads=3), "key_value_heads=3, heads=4"),
    (lambda: layers.Attention(width=8, heads=2, head_width=0), "head_width=0"),
    (lambda: layers.TransformerBlock({"norm": {"placement": "mid"}}), "'mid' .*one of: post, pre"),
    (lambda: build_norm("batch_norm"), "kind='batch_norm'"),
    (lambda: layers.RotaryPositions(head_width=5), "head_width=5"),
    (lambda: layers.RelativeBucketBias(heads=2, buckets=3), "buckets=3, max_distance=128"),
    (lambda: layers.RelativeBucketBias(heads=2, buckets=32, max_distance=8), "buckets=32, max_distance=8"),
    (
        lambda: layers.CausalTransformer({"positions": {"kind": "disentangled"}}),
        "disentangled .*MaskedTransformer",
    ),
    (lambda: layers.SinusoidalPositions(width=0), "width=0"),
    (lambda: layers.MaskedLMHead(9, width=4, embedding_width=0), "embedding_width=0"),
    (lambda: layers.FeedForward(8, 32, activation="gule"), "activation='gule'"),
    (lambda: layers.Embedding(rows=0, width=4), "rows=0"),
    (lambda: layers.Dropout(-0.1), r"rate=-0\.1"),
    (lambda: layers.MaskedLMHead(vocabulary_size=True, width=4), "vocabulary_size=True"),
    (lambda: layers.SpanBoundaryHead(9, width=4, places=0), "places=0"),
    (lambda: layers.AttentionPooling(width=0), "width=0"),
    (
        lambda: layers.AttentionPooling(8)(np.ones((1, 2, 6)), np.ones((1, 2), "int32"), documents=1),
        r"width=8, .*\(1, 2, 6\)",
    ),
    (lambda: layers.LinearChainCRF(tags=0), "tags=0"),
    (
        lambda: layers.LinearChainCRF(4)(np.ones((1, 2, 3)), np.ones((1, 2), "int32")),
        r"tags=4, .*\(1, 2, 3\)",
    ),
    (lambda: layers.Pooler(width="4"), "width='4'"),
    (
        lambda: layers.Attention(8, 2)(np.ones((1, 2, 6)), np.zeros((1, 1, 2, 2))),
        r"width=8, .*\(1, 2, 6\)",
    ),
    (lambda: layers.FeedForward(8, 32)(np.ones((1, 2, 6))), r"width=8, .*\(1, 2, 6\)"),
    (lambda: layers.Pooler(8)(np.ones((1, 2, 6)), np.zeros((1, 1), "int32")), r"width=8, .*\(1, 2, 6\)"),
]


@pytest.mark.parametrize("make, message", CASES)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()
