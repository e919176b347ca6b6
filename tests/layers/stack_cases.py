"""Blocks and stacks of transformers, with tiny arguments and what must come of each."""

import numpy as np

from firth import layers
from tests.layers.inputs import (
    BATCH,
    LENGTH,
    WIDTH,
    Case,
    angles,
    bias,
    differs,
    document_ids,
    hidden,
    ids,
    positions,
    relative,
)
from tests.layers.sizes import (
    ATTENTION_PARAMETERS,
    FEED_FORWARD_PARAMETERS,
    LLAMA_ATTENTION,
    LLAMA_ATTENTION_PARAMETERS,
    TWO_STREAM_ATTENTION_PARAMETERS,
)

BLOCK_PARAMETERS = ATTENTION_PARAMETERS + FEED_FORWARD_PARAMETERS + 4 * WIDTH
LLAMA_BLOCK_PARAMETERS = LLAMA_ATTENTION_PARAMETERS + 3 * WIDTH * 20 + 2 * WIDTH
LLAMA = {
    "attention": LLAMA_ATTENTION,
    "feed_forward": {"width": 20, "activation": "silu", "gated": True},
    "norm": {"kind": "rms_norm", "placement": "pre", "epsilon": 1e-6},
    "biases": False,
}
TWO_STREAM_BLOCK_PARAMETERS = TWO_STREAM_ATTENTION_PARAMETERS + FEED_FORWARD_PARAMETERS + 4 * WIDTH
BUCKETS = {"kind": "relative_buckets", "buckets": 8, "max_distance": 5}
DISENTANGLED = {"kind": "disentangled", "max_distance": 5, "buckets": None}
BERT = {"width": WIDTH, "attention": {"heads": 2, "dropout": 0.2}, "feed_forward": {"width": 20}}

STACKS = {
    "TransformerBlock": Case(
        layers.TransformerBlock,
        {"stack": {**BERT, "dropout": 0.1}},
        lambda s: (hidden(s), bias()),
        12,
        BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "TransformerBlock, pre-norm": Case(
        layers.TransformerBlock,
        {"stack": {"width": WIDTH, **LLAMA, "positions": {"kind": "rotary"}}},
        lambda s: (hidden(s), bias(), None, None, angles(2)),
        7,
        LLAMA_BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "TransformerBlock, attending to an encoder": Case(
        layers.TransformerBlock,
        {"stack": {**BERT, "dropout": 0.1}, "cross_attention": True},
        lambda s: (hidden(s), bias(), hidden(s + 1)[:, :4], bias()[..., :4]),
        20,
        BLOCK_PARAMETERS + ATTENTION_PARAMETERS + 2 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer": Case(
        layers.MaskedTransformer,
        {"stack": {"layers": 2, **BERT, "norm": {"epsilon": 1e-6}}},
        lambda s: (hidden(s), document_ids()),
        24,
        2 * BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer, shared layers": Case(
        layers.MaskedTransformer,
        {"stack": {"layers": 3, **BERT, "share_layers": {"groups": 1}, "norm": {"placement": "pre"}}},
        lambda s: (hidden(s), document_ids()),
        14,
        BLOCK_PARAMETERS + 2 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer, two groups of two": Case(
        layers.MaskedTransformer,
        {"stack": {"layers": 8, **BERT, "share_layers": {"groups": 2, "blocks": 2}}},
        lambda s: (hidden(s), document_ids()),
        48,
        4 * BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer, relative buckets": Case(
        layers.MaskedTransformer,
        {"stack": {"layers": 2, "width": WIDTH, **LLAMA, "positions": BUCKETS}},
        lambda s: (hidden(s), document_ids()),
        16,
        2 * LLAMA_BLOCK_PARAMETERS + 8 * 4 + WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer, disentangled": Case(
        layers.MaskedTransformer,
        {"stack": {"layers": 2, **BERT, "positions": DISENTANGLED}},
        lambda s: (hidden(s), document_ids()),
        27,
        2 * BLOCK_PARAMETERS + 12 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer, in an order": Case(
        layers.MaskedTransformer,
        {"stack": {"layers": 1, **BERT}},
        lambda s: (hidden(s), document_ids(), ids(s, 3)),
        12,
        BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "CausalTransformer": Case(
        layers.CausalTransformer,
        {"stack": {"layers": 2, **BERT, "norm": {"placement": "pre"}}, "scaled_residual_initializer": True},
        lambda s: (hidden(s), document_ids()),
        26,
        2 * BLOCK_PARAMETERS + 2 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "CausalTransformer, rotary": Case(
        layers.CausalTransformer,
        {"stack": {"layers": 2, "width": WIDTH, **LLAMA, "positions": {"kind": "rotary"}}},
        lambda s: (hidden(s), document_ids(), None, positions()),
        15,
        2 * LLAMA_BLOCK_PARAMETERS + WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "CausalTransformer, with a prefix": Case(
        layers.CausalTransformer,
        {"stack": {"layers": 1, **BERT, "positions": BUCKETS}, "bidirectional_prefix": True},
        lambda s: (hidden(s), document_ids(), np.maximum(positions() - 1, 0)),
        13,
        BLOCK_PARAMETERS + 8 * 2,
        (BATCH, LENGTH, WIDTH),
    ),
    "CausalTransformer, attending to an encoder": Case(
        layers.CausalTransformer,
        {
            "stack": {"layers": 2, **BERT, "positions": BUCKETS, "share_layers": {"groups": 1}},
            "cross_attention": True,
        },
        lambda s: (hidden(s), document_ids(), None, None, hidden(s + 1)[:, :4], document_ids()[:, :4]),
        21,
        BLOCK_PARAMETERS + ATTENTION_PARAMETERS + 2 * WIDTH + 8 * 2,
        (BATCH, LENGTH, WIDTH),
    ),
    "TwoStreamBlock": Case(
        layers.TwoStreamBlock,
        {"stack": {**BERT, "dropout": 0.1}},
        lambda s: (hidden(s), hidden(s), relative(2 * LENGTH), differs(), bias()),
        16,
        TWO_STREAM_BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
        shared=(2,),
    ),
    "TwoStreamTransformer": Case(
        layers.TwoStreamTransformer,
        {"stack": {"layers": 2, **BERT, "norm_epsilon": 1e-6}},
        lambda s: (hidden(s), document_ids(), ids(s, 3)),
        32,
        2 * TWO_STREAM_BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "TwoStreamTransformer, the query stream": Case(
        layers.TwoStreamTransformer,
        {"stack": {"layers": 2, **BERT}},
        lambda s: (
            hidden(s),
            document_ids(),
            ids(s, 3),
            positions(),
            hidden(s + 1)[:, :2],
            np.array([[1, 4], [5, 2], [0, 0]], "int32"),
        ),
        32,
        2 * TWO_STREAM_BLOCK_PARAMETERS,
        (BATCH, 2, WIDTH),
    ),
}
