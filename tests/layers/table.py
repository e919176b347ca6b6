"""All layers, each with tiny arguments, inputs and what must come of them.

Where one layer has several cases, what is special to each stands behind a comma.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from firth import layers

BATCH, LENGTH, WIDTH, VOCABULARY = 3, 6, 8, 11


@dataclasses.dataclass(frozen=True)
class Case:
    """One layer of the shared checklist.

    Attributes:
        make: The layer class.
        arguments: Of its constructor.
        inputs: A function of a seed that returns the call's arguments, arrays with the batch first, or None.
        weights: How many weights it has.
        parameters: How many numbers they hold.
        output_shape: For `inputs`.
        batched: Whether the output has a batch axis.
        shared: Positions among the inputs that have no batch axis.
        float32_output: Whether the output is float32 whatever the dtype policy.
        constant_start: Whether all weights start from the same values whatever the seed.
    """

    make: Callable
    arguments: dict
    inputs: Callable[[int], tuple]
    weights: int
    parameters: int
    output_shape: tuple
    batched: bool = True
    shared: tuple = ()
    float32_output: bool = False
    constant_start: bool = False


def hidden(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(BATCH, LENGTH, WIDTH)).astype("float32")


def ids(seed: int, below: int, count: int = LENGTH) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, below, (BATCH, count)).astype("int32")


def document_ids() -> np.ndarray:
    return np.array([[1, 1, 2, 2, 2, 0], [1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]], "int32")


def bias() -> np.ndarray:
    documents = document_ids()
    return np.where(documents[:, None, :, None] == documents[:, None, None, :], 0.0, -1e9).astype("float32")


def positions() -> np.ndarray:
    return np.array([[0, 1, 0, 1, 2, 0], [0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 3, 4]], "int32")


def angles(head_width: int) -> np.ndarray:
    found = positions()[..., None] / 10.0 ** np.arange(head_width // 2)
    return np.stack([np.cos(found), np.sin(found)], axis=1).astype("float32")


def relative(rows: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(rows, WIDTH)).astype("float32")


def differs() -> np.ndarray:
    segments = np.array([[0, 1, 0, 0, 1, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0]])
    return (segments[:, None, :, None] != segments[:, None, None, :]).astype("float32")


ATTENTION_PARAMETERS = 4 * (WIDTH * WIDTH + WIDTH)
FEED_FORWARD_PARAMETERS = 2 * WIDTH * 20 + 20 + WIDTH
BLOCK_PARAMETERS = ATTENTION_PARAMETERS + FEED_FORWARD_PARAMETERS + 4 * WIDTH
# Four query heads of width 2, two heads of keys and values, a gate, and no biases.
LLAMA_ATTENTION = {"heads": 4, "key_value_heads": 2}
LLAMA_ATTENTION_PARAMETERS = 2 * WIDTH * WIDTH + 2 * WIDTH * WIDTH // 2
LLAMA_BLOCK_PARAMETERS = LLAMA_ATTENTION_PARAMETERS + 3 * WIDTH * 20 + 2 * WIDTH
LLAMA = {
    "attention": LLAMA_ATTENTION,
    "feed_forward": {"width": 20, "activation": "silu", "gated": True},
    "norm": {"kind": "rms_norm", "placement": "pre", "epsilon": 1e-6},
    "biases": False,
}
TWO_STREAM_ATTENTION_PARAMETERS = 5 * WIDTH * WIDTH + 5 * WIDTH
TWO_STREAM_BLOCK_PARAMETERS = TWO_STREAM_ATTENTION_PARAMETERS + FEED_FORWARD_PARAMETERS + 4 * WIDTH
BUCKETS = {"kind": "relative_buckets", "buckets": 8, "max_distance": 5}
SCALING = {"low_frequency_factor": 1.0, "high_frequency_factor": 4.0, "original_length": 64}
BERT = {"width": WIDTH, "attention": {"heads": 2, "dropout": 0.2}, "feed_forward": {"width": 20}}

CASES = {
    "Dropout": Case(layers.Dropout, {"rate": 0.0}, lambda s: (hidden(s),), 0, 0, (BATCH, LENGTH, WIDTH)),
    "Embedding": Case(
        layers.Embedding,
        {"rows": VOCABULARY, "width": WIDTH},
        lambda s: (ids(s, VOCABULARY),),
        1,
        VOCABULARY * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "InputEmbedding": Case(
        layers.InputEmbedding,
        {
            "width": WIDTH,
            "positions": {"kind": "learned", "length": 7},
            "segments": 3,
            "norm": {},
            "dropout": 0.2,
        },
        lambda s: (hidden(s), positions(), ids(s, 3)),
        4,
        (7 + 3 + 2) * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "InputEmbedding, unused rows": Case(
        layers.InputEmbedding,
        {"width": WIDTH, "positions": {"kind": "learned", "length": 6, "unused": 2}},
        lambda s: (hidden(s), positions()),
        1,
        8 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "InputEmbedding, sinusoidal": Case(
        layers.InputEmbedding,
        {"width": WIDTH, "positions": {"kind": "sinusoidal"}, "segments": 3, "norm": {"kind": "rms_norm"}},
        lambda s: (hidden(s), positions(), ids(s, 3)),
        2,
        4 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "SinusoidalPositions": Case(
        layers.SinusoidalPositions, {"width": WIDTH}, lambda s: (positions(),), 0, 0, (BATCH, LENGTH, WIDTH)
    ),
    "RotaryPositions": Case(
        layers.RotaryPositions,
        {"head_width": 4, "base": 100.0},
        lambda s: (positions(),),
        0,
        0,
        (BATCH, 2, LENGTH, 2),
        float32_output=True,
    ),
    "RotaryPositions, scaled": Case(
        layers.RotaryPositions,
        {"head_width": 6, "scaling": {**SCALING, "factor": 2.0}},
        lambda s: (positions(),),
        0,
        0,
        (BATCH, 2, LENGTH, 3),
        float32_output=True,
    ),
    "RelativeBucketBias": Case(
        layers.RelativeBucketBias,
        {"heads": 2, "buckets": 4, "max_distance": 4},
        lambda s: (positions(), positions()),
        1,
        4 * 2,
        (BATCH, 2, LENGTH, LENGTH),
        float32_output=True,
    ),
    "RelativeBucketBias, causal": Case(
        layers.RelativeBucketBias,
        {"heads": 3, "buckets": 4, "max_distance": 3, "bidirectional": False},
        lambda s: (positions(), positions()),
        1,
        4 * 3,
        (BATCH, 3, LENGTH, LENGTH),
        float32_output=True,
    ),
    "Attention": Case(
        layers.Attention,
        {"width": WIDTH, "heads": 2, "dropout": 0.2},
        lambda s: (hidden(s), bias()),
        4,
        ATTENTION_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "Attention, grouped and rotary": Case(
        layers.Attention,
        {"width": WIDTH, **LLAMA_ATTENTION, "biases": False, "dropout": 0.2},
        lambda s: (hidden(s), bias(), None, angles(2)),
        2,
        LLAMA_ATTENTION_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "Attention, wide heads and a bias of each": Case(
        layers.Attention,
        {"width": WIDTH, "heads": 4, "key_value_heads": 2, "head_width": 3, "scaled": False},
        lambda s: (hidden(s), bias() + hidden(s).mean() * np.arange(4.0, dtype="float32")[:, None, None]),
        4,
        WIDTH * 24 + 24 + 12 * WIDTH + WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "Attention, without a bias": Case(
        layers.Attention,
        {"width": WIDTH, "heads": 2},
        lambda s: (hidden(s),),
        4,
        ATTENTION_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "Attention, cross": Case(
        layers.Attention,
        {"width": WIDTH, "heads": 4, "key_value_heads": 2, "cross": True, "output_stddev": 0.1},
        lambda s: (hidden(s), bias()[..., :4], hidden(s + 1)[:, :4]),
        6,
        2 * (WIDTH * WIDTH + WIDTH) + 2 * (WIDTH * 4 + 4),
        (BATCH, LENGTH, WIDTH),
    ),
    "FeedForward": Case(
        layers.FeedForward,
        {"width": WIDTH, "inner_width": 20, "activation": "gelu_approximate"},
        lambda s: (hidden(s),),
        4,
        FEED_FORWARD_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "FeedForward, gated": Case(
        layers.FeedForward,
        {"width": WIDTH, "activation": "silu", "gated": True, "biases": False},
        lambda s: (hidden(s),),
        3,
        3 * 4 * WIDTH * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "TransformerBlock": Case(
        layers.TransformerBlock,
        {**BERT, "dropout": 0.1},
        lambda s: (hidden(s), bias()),
        12,
        BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "TransformerBlock, pre-norm": Case(
        layers.TransformerBlock,
        {"width": WIDTH, **LLAMA, "positions": {"kind": "rotary"}},
        lambda s: (hidden(s), bias(), None, None, angles(2)),
        7,
        LLAMA_BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "TransformerBlock, attending to an encoder": Case(
        layers.TransformerBlock,
        {**BERT, "cross_attention": True, "dropout": 0.1},
        lambda s: (hidden(s), bias(), hidden(s + 1)[:, :4], bias()[..., :4]),
        20,
        BLOCK_PARAMETERS + ATTENTION_PARAMETERS + 2 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer": Case(
        layers.MaskedTransformer,
        {"layers": 2, **BERT, "norm": {"epsilon": 1e-6}},
        lambda s: (hidden(s), document_ids()),
        24,
        2 * BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer, shared layers": Case(
        layers.MaskedTransformer,
        {"layers": 3, **BERT, "share_layers": True, "norm": {"placement": "pre"}},
        lambda s: (hidden(s), document_ids()),
        14,
        BLOCK_PARAMETERS + 2 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer, relative buckets": Case(
        layers.MaskedTransformer,
        {"layers": 2, "width": WIDTH, **LLAMA, "positions": BUCKETS},
        lambda s: (hidden(s), document_ids()),
        16,
        2 * LLAMA_BLOCK_PARAMETERS + 8 * 4 + WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer, disentangled": Case(
        layers.MaskedTransformer,
        {"layers": 2, **BERT, "positions": {"kind": "disentangled", "max_distance": 5, "buckets": None}},
        lambda s: (hidden(s), document_ids()),
        27,
        2 * BLOCK_PARAMETERS + 12 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer, in an order": Case(
        layers.MaskedTransformer,
        {"layers": 1, **BERT},
        lambda s: (hidden(s), document_ids(), ids(s, 3)),
        12,
        BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "CausalTransformer": Case(
        layers.CausalTransformer,
        {"layers": 2, **BERT, "norm": {"placement": "pre"}, "scaled_residual_initializer": True},
        lambda s: (hidden(s), document_ids()),
        26,
        2 * BLOCK_PARAMETERS + 2 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "CausalTransformer, rotary": Case(
        layers.CausalTransformer,
        {"layers": 2, "width": WIDTH, **LLAMA, "positions": {"kind": "rotary"}},
        lambda s: (hidden(s), document_ids(), None, positions()),
        15,
        2 * LLAMA_BLOCK_PARAMETERS + WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "CausalTransformer, with a prefix": Case(
        layers.CausalTransformer,
        {"layers": 1, **BERT, "positions": BUCKETS, "bidirectional_prefix": True},
        lambda s: (hidden(s), document_ids(), np.maximum(positions() - 1, 0)),
        13,
        BLOCK_PARAMETERS + 8 * 2,
        (BATCH, LENGTH, WIDTH),
    ),
    "CausalTransformer, attending to an encoder": Case(
        layers.CausalTransformer,
        {"layers": 2, **BERT, "positions": BUCKETS, "cross_attention": True, "share_layers": True},
        lambda s: (hidden(s), document_ids(), None, None, hidden(s + 1)[:, :4], document_ids()[:, :4]),
        21,
        BLOCK_PARAMETERS + ATTENTION_PARAMETERS + 2 * WIDTH + 8 * 2,
        (BATCH, LENGTH, WIDTH),
    ),
    "DisentangledPositions": Case(
        layers.DisentangledPositions,
        {"width": WIDTH, "max_distance": 5, "buckets": 2, "dropout": 0.2},
        lambda s: (positions(),),
        3,
        (2 * 2 + 2) * WIDTH,
        (2 * LENGTH + 1, WIDTH),
        batched=False,
    ),
    "DisentangledAttention": Case(
        layers.DisentangledAttention,
        {"width": WIDTH, "heads": 2, "dropout": 0.2},
        lambda s: (hidden(s), bias(), relative(2 * LENGTH + 1)),
        4,
        ATTENTION_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
        shared=(2,),
    ),
    "DisentangledAttention, without biases": Case(
        layers.DisentangledAttention,
        {"width": WIDTH, "heads": 4, "head_width": 3, "biases": False, "scaled": False},
        lambda s: (hidden(s), None, relative(2 * LENGTH + 1)),
        2,
        4 * WIDTH * 12,
        (BATCH, LENGTH, WIDTH),
        shared=(2,),
    ),
    "TwoStreamAttention": Case(
        layers.TwoStreamAttention,
        {"width": WIDTH, "heads": 2, "dropout": 0.2},
        lambda s: (hidden(s), hidden(s), relative(2 * LENGTH), differs(), bias()),
        8,
        TWO_STREAM_ATTENTION_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
        shared=(2,),
    ),
    "TwoStreamAttention, the query stream": Case(
        layers.TwoStreamAttention,
        {"width": WIDTH, "heads": 4, "head_width": 3, "scaled": False},
        lambda s: (
            hidden(s)[:, :2],
            hidden(s + 1),
            relative(2 * LENGTH),
            differs()[:, :, :2],
            bias()[:, :, :2],
            ids(s, LENGTH, 2),
        ),
        8,
        5 * WIDTH * 12 + 5 * 12,
        (BATCH, 2, WIDTH),
        shared=(2,),
    ),
    "TwoStreamBlock": Case(
        layers.TwoStreamBlock,
        {**BERT, "dropout": 0.1},
        lambda s: (hidden(s), hidden(s), relative(2 * LENGTH), differs(), bias()),
        16,
        TWO_STREAM_BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
        shared=(2,),
    ),
    "TwoStreamTransformer": Case(
        layers.TwoStreamTransformer,
        {"layers": 2, **BERT, "norm_epsilon": 1e-6},
        lambda s: (hidden(s), document_ids(), ids(s, 3)),
        32,
        2 * TWO_STREAM_BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "TwoStreamTransformer, the query stream": Case(
        layers.TwoStreamTransformer,
        {"layers": 2, **BERT},
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
    "LSTM": Case(
        layers.LSTM,
        {"cells": 5, "width": 3, "directions": 2, "cell_clip": 0.3},
        lambda s: (hidden(s), document_ids()),
        4,
        2 * (20 * (WIDTH // 2 + 3 + 1) + 15),
        (BATCH, LENGTH, 6),
    ),
    "LSTM, one direction and one document": Case(
        layers.LSTM,
        {"cells": 5, "width": 3, "projection_clip": 0.2},
        lambda s: (hidden(s),),
        4,
        20 * (WIDTH + 3 + 1) + 15,
        (BATCH, LENGTH, 3),
    ),
    "BiLSTM": Case(
        layers.BiLSTM,
        {"layers": 2, "cells": 5, "projection_width": 3, "dropout": 0.2},
        lambda s: (hidden(s), document_ids()),
        8,
        2 * (20 * (WIDTH + 3 + 1) + 15 + 20 * (3 + 3 + 1) + 15),
        (BATCH, LENGTH, 6),
    ),
    "CharCNN": Case(
        layers.CharCNN,
        {"filters": [(1, 3), (4, 5), (2, 4)], "character_width": 6, "alphabet": VOCABULARY},
        lambda s: (np.stack([ids(s + place, VOCABULARY, 7) for place in range(LENGTH)], axis=1),),
        5,
        VOCABULARY * 6 + 6 * (1 * 3 + 4 * 5 + 2 * 4) + 12,
        (BATCH, LENGTH, 12),
    ),
    "Highway": Case(
        layers.Highway,
        {"width": WIDTH},
        lambda s: (hidden(s),),
        2,
        2 * WIDTH * WIDTH + 2 * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "ScalarMix": Case(
        layers.ScalarMix,
        {"layers": 4, "layer_norm": True, "dropout": 0.5},
        lambda s: (np.stack([hidden(s + place) for place in range(4)], axis=1),),
        2,
        5,
        (BATCH, LENGTH, WIDTH),
        constant_start=True,
    ),
    "MaskedLMHead": Case(
        layers.MaskedLMHead,
        {"vocabulary_size": VOCABULARY, "width": WIDTH},
        lambda s: (hidden(s), ids(s, LENGTH, 4), np.linspace(-1, 1, VOCABULARY * WIDTH).reshape(-1, WIDTH)),
        5,
        WIDTH * WIDTH + 3 * WIDTH + VOCABULARY,
        (BATCH, 4, VOCABULARY),
        shared=(2,),
        float32_output=True,
    ),
    "MaskedLMHead, factorised": Case(
        layers.MaskedLMHead,
        {"vocabulary_size": VOCABULARY, "width": WIDTH, "embedding_width": 4},
        lambda s: (hidden(s), ids(s, LENGTH, 2), np.linspace(-1, 1, VOCABULARY * 4).reshape(-1, 4)),
        5,
        WIDTH * 4 + 3 * 4 + VOCABULARY,
        (BATCH, 2, VOCABULARY),
        shared=(2,),
        float32_output=True,
    ),
    "SpanBoundaryHead": Case(
        layers.SpanBoundaryHead,
        {"vocabulary_size": VOCABULARY, "width": WIDTH, "max_span": 3},
        lambda s: (
            hidden(s),
            *(ids(s + place, below, 4) for place, below in enumerate((LENGTH, LENGTH, 4))),
            np.linspace(-1, 1, VOCABULARY * WIDTH).reshape(-1, WIDTH),
        ),
        10,
        3 * WIDTH + (3 * WIDTH + 1) * WIDTH + (WIDTH + 1) * WIDTH + 4 * WIDTH + VOCABULARY,
        (BATCH, 4, VOCABULARY),
        shared=(4,),
        float32_output=True,
    ),
    "Pooler": Case(
        layers.Pooler,
        {"width": WIDTH},
        lambda s: (hidden(s), ids(s, LENGTH, 2)),
        2,
        WIDTH * WIDTH + WIDTH,
        (BATCH, 2, WIDTH),
    ),
    "NextSentenceHead": Case(
        layers.NextSentenceHead,
        {"initializer_stddev": 0.1},
        lambda s: (hidden(s)[:, :2],),
        2,
        2 * WIDTH + 2,
        (BATCH, 2, 2),
        float32_output=True,
    ),
}
