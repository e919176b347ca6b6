"""The signatures `embed` and `embed_tokens`: vectors of texts and of their tokens."""

import functools
from collections.abc import Callable
from typing import TypeAlias

import tensorflow as tf

from firth import features as names
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.encoding import Encoded
from firth.serving.evaluate import in_chunks
from firth.serving.served_model import Served
from firth.serving.signature import Answer, Output, Reading, Signature, reading
from firth.tasks.windows import read_windows

# The sums of the vectors of some texts, float32 [batch, width], and their numbers, float32 [batch, 1].
Sums: TypeAlias = tuple[tf.Tensor, tf.Tensor]

OUTPUTS = {
    "embedding": Output("vector of the text", shape=("batch", "width")),
    **reading("the end of the text was not read"),
}
TOKEN_OUTPUTS = {
    "pieces": Output(
        "pieces, or words, of the text; empty after its last one", "string", ("batch", "tokens")
    ),
    "embeddings": Output("vector of each of them; zeros after", shape=("batch", "tokens", "width")),
    "token_count": Output("number of them", "int32"),
    **reading(),
}
_LAYERS = {
    "layers": Output(
        "the words' own vectors (twice, for both directions) and each layer, for a task to mix",
        shape=("batch", "tokens", "layers", "width"),
    )
}
_ANSWER = Answer(
    {"embedding": "embedding"},
    lines=(
        "[{% for value in embedding[:6] %}{{ '%.4f' % value }}{{ ', ' if not loop.last }}{% endfor %}"
        "{{ ', ...' if embedding | length > 6 }}] ({{ embedding | length }} values; --json prints all)"
    ),
)


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature `embed`, if the recipe's model has an encoder."""
    if not recipe.model.has_encoder:
        return None
    meaning = "Gives a vector of each text."
    return Signature(embed, OUTPUTS, meaning, example={"text": "A sentence."}, answer=_ANSWER)


def offer_tokens(recipe: RunRecipe) -> Signature | None:
    """Returns the signature `embed_tokens`, if the recipe's model has an encoder."""
    if not recipe.model.has_encoder:
        return None
    meaning = "Gives a vector of each piece of a text, without the special ones around it."
    outputs = {**TOKEN_OUTPUTS, **(_LAYERS if recipe.model.gives_layers else {})}
    return Signature(embed_tokens, outputs, meaning, answer=Answer(count="token_count"))


def embed(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns one vector of each text, pooled as `recipe.export.pooling` says.

    With `mean` it is the mean over the vectors that `embed_tokens` gives, which is zero for a text without
    tokens; with `mean_with_special`, over those of the special tokens too; with `first`, the state of the
    first token, which is `[CLS]` where there is one in front; with `cls`, the pooled `[CLS]`; see
    `firth.recipes.Export` for the others. The prompt is a part of the text. The layers of
    `export.projections` follow, and then `export.normalize`.

    A mean is over all tokens of a text: one that is longer than a row is read in parts, one after another, of
    which each weighs as much as it has tokens, unless `export.long_texts` is `cut`. Of what is read at the
    first token alone, the text is cut.

    Args:
        text: Texts, string [batch].
    """
    export = served.recipe.export
    asked = tf.strings.join([export.prompt, text]) if export.prompt else text
    if export.pooling in _SUMS and export.long_texts != "cut":
        vectors, amount = _mean(served, asked, _SUMS[export.pooling])
    else:
        encoded = served.encode(asked)
        vectors, amount = _STATES[export.pooling](served, encoded), encoded.reading
    if export.projections:
        vectors = _projected(served, vectors)
    if export.normalize:
        vectors = tf.math.l2_normalize(vectors, axis=1)
    return {"embedding": vectors, **amount.outputs}


def _projected(served: Served, vectors: tf.Tensor) -> tf.Tensor:
    projections = getattr(served.model, "projections", None)
    if projections is None:
        raise ValueError("export.projections: this engine has no such layers; engine: keras has them")
    return projections(vectors)


def _mean(
    served: Served, text: tf.Tensor, sums: Callable[[Served, Encoded], Sums]
) -> tuple[tf.Tensor, Reading]:
    """Returns the means over all tokens of texts, which are read in parts that fit a row."""
    whole = served.tokens_of(text)
    lengths = tf.cast(whole.row_lengths(), tf.int32)
    windows, read = read_windows(lengths, served.text_room, served.text_room)
    padding = tf.constant("" if whole.dtype == tf.string else -1, whole.dtype)

    def of_rows(rows: tf.Tensor) -> dict[str, tf.Tensor]:
        tokens = tf.RaggedTensor.from_tensor(rows, padding=padding)
        total, count = sums(served, served.encode_tokens(tokens))
        return {"sum": total, "count": count}

    found = in_chunks(
        of_rows,
        windows.of(whole).to_tensor(padding, shape=[None, served.text_room]),
        served.recipe.evaluation.batch_size,
    )
    total, count = (
        tf.math.unsorted_segment_sum(found[name], windows.owners, tf.size(lengths))
        for name in ("sum", "count")
    )
    return tf.math.divide_no_nan(total, count), Reading(read, lengths)


def _own_sums(served: Served, encoded: Encoded) -> Sums:
    vectors, count = _token_vectors(served, encoded)["embeddings"], _count(encoded)
    return tf.reduce_sum(vectors, axis=1), tf.cast(count, tf.float32)[:, tf.newaxis]


def _states(served: Served, encoded: Encoded) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the states of all tokens, special ones too, and 1 for each, float [batch, length, 1]."""
    hidden = tf.cast(served.encoder_states(encoded.features), tf.float32)
    return hidden, tf.cast(encoded.features[names.DOCUMENT_IDS] > 0, tf.float32)[:, :, tf.newaxis]


def _sums_with_special(served: Served, encoded: Encoded) -> Sums:
    hidden, real = _states(served, encoded)
    return tf.reduce_sum(hidden * real, axis=1), tf.reduce_sum(real, axis=1)


def _weighted_mean(served: Served, encoded: Encoded) -> tf.Tensor:
    hidden, real = _states(served, encoded)
    weights = real * tf.cumsum(real, axis=1)
    return tf.math.divide_no_nan(tf.reduce_sum(hidden * weights, axis=1), tf.reduce_sum(weights, axis=1))


def _mean_sqrt_length(served: Served, encoded: Encoded) -> tf.Tensor:
    hidden, real = _states(served, encoded)
    return tf.math.divide_no_nan(tf.reduce_sum(hidden * real, axis=1), tf.sqrt(tf.reduce_sum(real, axis=1)))


def _max(served: Served, encoded: Encoded) -> tf.Tensor:
    hidden, real = _states(served, encoded)
    return tf.reduce_max(tf.where(real > 0, hidden, hidden.dtype.min), axis=1)


def _last(served: Served, encoded: Encoded) -> tf.Tensor:
    hidden, real = _states(served, encoded)
    last = tf.cast(tf.reduce_sum(real, axis=[1, 2]), tf.int32) - 1
    return tf.gather(hidden, tf.maximum(last, 0), axis=1, batch_dims=1)


def _first(served: Served, encoded: Encoded) -> tf.Tensor:
    return tf.cast(served.encoder_states(encoded.features)[:, 0], tf.float32)


def _pooled(served: Served, encoded: Encoded) -> tf.Tensor:
    hidden = served.encoder_states(encoded.features)
    first = tf.zeros([tf.shape(hidden)[0], 1], tf.int32)
    return tf.cast(served.model.heads.pooler(hidden, first)[:, 0], tf.float32)


def _mean_of_row(sums: Callable[[Served, Encoded], Sums], served: Served, encoded: Encoded) -> tf.Tensor:
    return tf.math.divide_no_nan(*sums(served, encoded))


# By `recipe.export.pooling`: sums over the tokens of a part of a text and their number, or a vector of a row.
_SUMS = {"mean": _own_sums, "mean_with_special": _sums_with_special}
_STATES: dict[str, Callable[[Served, Encoded], tf.Tensor]] = {
    "first": _first,
    "cls": _pooled,
    "last": _last,
    "max": _max,
    "mean_sqrt_length": _mean_sqrt_length,
    "weighted_mean": _weighted_mean,
    **{pooling: functools.partial(_mean_of_row, sums) for pooling, sums in _SUMS.items()},
}


def embed_tokens(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns one vector of each of a text's own tokens, without the special tokens around it.

    Of an encoder-decoder, they are the encoder's states; of a biLM, the mean of its layers, which are next
    to it as `layers` (Peters et al. 2018, section 3.2).

    Args:
        text: Texts, string [batch].
    """
    encoded = served.encode(text)
    vectors = _token_vectors(served, encoded)
    columns = tf.shape(vectors["embeddings"])[1]
    return {
        "pieces": encoded.tokens.to_tensor("", shape=tf.stack([-1, columns])),
        **vectors,
        "token_count": _count(encoded),
        **encoded.reading.outputs,
    }


def _token_vectors(served: Served, encoded: Encoded) -> dict[str, tf.Tensor]:
    if not served.recipe.model.gives_layers:
        vectors, _ = encoded.own(served.encoder_states(encoded.features))
        return {"embeddings": vectors}
    layers = served.model.backbone.layer_outputs(encoded.features, training=False)
    layers, _ = encoded.own(tf.transpose(layers, [0, 2, 1, 3]))
    return {"embeddings": tf.reduce_mean(layers, axis=2), "layers": layers}


def _count(encoded: Encoded) -> tf.Tensor:
    return tf.cast(encoded.ids.row_lengths(), tf.int32)
