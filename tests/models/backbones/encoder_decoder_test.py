"""Initial weights and dropout as in T5's reference code."""

import keras
import numpy as np
import pytest

from firth import layers
from firth.models import EncoderDecoderBackbone

WIDTH, HEADS, HEAD_WIDTH, INNER = 96, 4, 16, 160
SHAPE = {
    "attention": {"heads": HEADS, "head_width": HEAD_WIDTH, "scaled": False},
    "norm": {"kind": "rms_norm", "placement": "pre", "epsilon": 1e-6},
    "positions": {"kind": "relative_buckets"},
    "biases": False,
}


def t5(rate=0.0, **parts):
    backbone = EncoderDecoderBackbone(
        300,
        {
            **SHAPE,
            "layers": 1,
            "width": WIDTH,
            "attention": {**SHAPE["attention"], "dropout": rate},
            "feed_forward": {"width": INNER, "activation": "relu", "dropout": rate},
            "dropout": rate,
            "output_dropout": rate,
            "scaled_initializer": True,
            **parts,
        },
        seed=3,
    )
    backbone.build()
    return backbone


def check_stddev(values, expected):
    """Checks the standard deviation, and that the tails beyond two of them are there."""
    values = keras.ops.convert_to_numpy(values).ravel()
    assert values.std() == pytest.approx(expected, rel=4 / np.sqrt(2 * values.size))
    assert abs(values).max() > 2.2 * expected


def test_weights_start_as_in_the_reference_code():
    """Queries from (d_model d_kv)^-1/2, all others from one over the root of their inputs, tokens from 1."""
    backbone = t5(embeddings={"initializer_stddev": 1.0})
    of_inputs, queries = WIDTH**-0.5, HEADS * HEAD_WIDTH
    check_stddev(backbone.token_embedding.table, 1.0)
    for stack in (backbone.encoder, backbone.decoder):
        check_stddev(stack.positions.table, of_inputs)
        block = stack.blocks[0]
        check_stddev(block.attention.kernel[:, :queries], (WIDTH * HEAD_WIDTH) ** -0.5)
        check_stddev(block.attention.kernel[:, queries : 2 * queries], of_inputs)
        check_stddev(block.attention.kernel[:, 2 * queries :], of_inputs)
        check_stddev(block.attention.output_projection.kernel, queries**-0.5)
        check_stddev(block.feed_forward.inner_kernel, of_inputs)
        check_stddev(block.feed_forward.outer_kernel, INNER**-0.5)
    cross = backbone.decoder.blocks[0].cross_attention
    check_stddev(cross.query_kernel, (WIDTH * HEAD_WIDTH) ** -0.5)
    check_stddev(cross.kernel, of_inputs)
    check_stddev(cross.output_projection.kernel, queries**-0.5)


def test_scaled_scores_leave_the_queries_wider():
    layer = layers.Attention(WIDTH, HEADS, scaled_initializer=True, seed=1)
    layer.build((None, None, WIDTH))
    check_stddev(layer.kernel, WIDTH**-0.5)


def zeros(tensor) -> float:
    return float((keras.ops.convert_to_numpy(tensor) == 0).mean())


def test_outputs_are_dropped_after_the_last_norm():
    backbone, ones = t5(rate=0.5), np.ones((4, 24), "int32")
    features = {"token_ids": ones, "position_ids": ones, "document_ids": ones}
    features |= {f"decoder_{name}": value for name, value in features.items()}
    # Half, and of the other half what embeddings and all sublayers, two or three, have dropped already.
    assert zeros(backbone.encode(features, training=True)) == pytest.approx(0.5 + 0.5**4, abs=0.02)
    assert zeros(backbone(features, training=True)) == pytest.approx(0.5 + 0.5**5, abs=0.02)
    assert zeros(backbone(features)) < 0.01
