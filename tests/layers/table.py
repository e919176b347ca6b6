"""All layers, each with tiny arguments, inputs and what must come of them."""

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
        inputs: A function of a seed that returns the call's arguments, arrays with the batch first.
        weights: How many weights it has.
        parameters: How many numbers they hold.
        output_shape: For `inputs`.
        shared: Positions among the inputs that have no batch axis.
        float32_output: Whether the output is float32 whatever the dtype policy.
    """

    make: Callable
    arguments: dict
    inputs: Callable[[int], tuple]
    weights: int
    parameters: int
    output_shape: tuple
    shared: tuple = ()
    float32_output: bool = False


def hidden(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(BATCH, LENGTH, WIDTH)).astype("float32")


def ids(seed: int, below: int, count: int = LENGTH) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, below, (BATCH, count)).astype("int32")


def document_ids() -> np.ndarray:
    return np.array([[1, 1, 2, 2, 2, 0], [1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]], "int32")


def bias() -> np.ndarray:
    documents = document_ids()
    return np.where(documents[:, None, :, None] == documents[:, None, None, :], 0.0, -1e9).astype("float32")


ATTENTION_PARAMETERS = 4 * (WIDTH * WIDTH + WIDTH)
FEED_FORWARD_PARAMETERS = 2 * WIDTH * 20 + 20 + WIDTH
BLOCK_PARAMETERS = ATTENTION_PARAMETERS + FEED_FORWARD_PARAMETERS + 4 * WIDTH

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
    "TokenSegmentPositionEmbedding": Case(
        layers.TokenSegmentPositionEmbedding,
        {"vocabulary_size": VOCABULARY, "width": WIDTH, "positions": 7, "segments": 3, "dropout": 0.2},
        lambda s: (ids(s, VOCABULARY), ids(s, 3), ids(s, 7)),
        5,
        (VOCABULARY + 7 + 3 + 2) * WIDTH,
        (BATCH, LENGTH, WIDTH),
    ),
    "SelfAttention": Case(
        layers.SelfAttention,
        {"width": WIDTH, "heads": 2, "dropout": 0.2},
        lambda s: (hidden(s), bias()),
        4,
        ATTENTION_PARAMETERS,
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
    "PostNormBlock": Case(
        layers.PostNormBlock,
        {"width": WIDTH, "heads": 4, "feed_forward_width": 20, "dropout": 0.1, "attention_dropout": 0.2},
        lambda s: (hidden(s), bias()),
        12,
        BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
    ),
    "MaskedTransformer": Case(
        layers.MaskedTransformer,
        {"layers": 2, "width": WIDTH, "heads": 2, "feed_forward_width": 20, "norm_epsilon": 1e-6},
        lambda s: (hidden(s), document_ids()),
        24,
        2 * BLOCK_PARAMETERS,
        (BATCH, LENGTH, WIDTH),
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
