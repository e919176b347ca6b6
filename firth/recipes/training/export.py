"""Settings of the served model."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE, Config

WeightType = Literal["float32", "bfloat16", "int8"]
Pooling = Literal[
    "mean", "mean_with_special", "first", "cls", "last", "max", "mean_sqrt_length", "weighted_mean"
]


# A part of a signature's name.
SchemaName = Annotated[str, pydantic.Field(pattern="^[a-z][a-z0-9_]*$", max_length=64)]


class Projection(Config):
    """A dense layer on the vector of a text, after pooling."""

    width: Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)]
    """Width of the vectors that come out."""
    activation: Literal["linear", "tanh", "relu", "gelu", "silu", "sigmoid"] = "linear"
    """Function that is applied to each of their values."""
    bias: bool = True
    """Whether the layer has a bias."""


class Export(Config):
    """Settings of the exported signatures."""

    top_k: int = pydantic.Field(default=5, ge=1)
    """Number of candidates that `fill_mask` returns for each `[MASK]`."""
    pooling: Pooling = "mean"
    """Way in which `embed` makes one vector of a text: the mean over its tokens; the mean over those and the
    special ones around them, as sentence-transformers takes it; the first token's own state, which is its
    `cls_token`; the pooled `[CLS]`; or, of all tokens with the special ones, the state of the last one, the
    greatest of each value, the sum divided by the root of their number, and the mean in which the second
    token weighs twice as much as the first, and so on."""
    projections: tuple[Projection, ...] = ()
    """Dense layers that `embed` applies to the pooled vector, one after another. They come with a sentence
    encoder that is imported; a run that starts from it neither trains nor keeps them."""
    normalize: bool = False
    """True for vectors of length one, which `embed` gives."""
    prompt: str = ""
    """Text that `embed` puts before each text."""
    weights: WeightType = "float32"
    """Type that kernels and the tables of tokens are stored in. bfloat16 takes half of float32's room and
    int8, with a scale for each output, a quarter; a call makes float32 of them, which takes time. Norms,
    biases and positions stay in float32. What a model loses by it is measured on held-out rows."""
    long_texts: Literal["cut", "windows"] | None = None
    """Treatment of a text that is longer than a row: `cut` reads its beginning; `windows` reads all of
    it, and `classify` and `regress` answer by the mean of the logits of windows that share a quarter of a
    row, `embed` by the mean over all tokens. Null cuts for the former, as in training, and reads windows for
    `embed` where its pooling is a mean."""
    attention: bool = False
    """True for the signature `attention`: the attention probabilities of a head of a layer over a text, which
    the playground shows. Encoders and causal models of transformers have it; XLNet and biLMs do not."""
    warmup_requests: int = pydantic.Field(default=2, ge=0)
    """Number of requests of each signature that TF Serving replays when it loads the model."""
    slots: int = pydantic.Field(default=0, ge=0, le=1_024)
    """Number of texts that a server writes at once with the signatures `prefill` and `step`, which only
    models that write have; 0 for none, and no such signatures. The caches of the slots take memory from when
    the model is loaded."""
    top_log_probabilities: int = pydantic.Field(default=5, ge=0)
    """Number of likeliest tokens that `step` returns for each token of a slot, with the logarithms of their
    probabilities; 0 for none."""
    slot_length: Annotated[int, pydantic.Field(ge=8, le=MAX_SIZE)] | None = None
    """Most tokens of the rows of a slot, as `sequences.length` says it of all rows; null for as many."""
    schemas: Mapping[SchemaName, str | Mapping[str, Any]] = {}
    """JSON Schemas by name, each with its file or itself: `generate_NAME` writes JSON that is valid by it, on
    any server. Only models that continue a text have them; keywords that no automaton has are refused."""
