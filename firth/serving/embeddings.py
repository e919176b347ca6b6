"""The signatures `embed` and `embed_tokens`: vectors of texts and of their tokens."""

import tensorflow as tf

from firth import features as names
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.descriptions.output import Output, truncated
from firth.serving.encoding import Encoded
from firth.serving.served import Served
from firth.serving.signature import Answer, Signature

OUTPUTS = {
    "embedding": Output("vector of the text", shape=("batch", "width")),
    "truncated": truncated(),
}
TOKEN_OUTPUTS = {
    "pieces": Output(
        "pieces, or words, of the text; empty after its last one", "string", ("batch", "tokens")
    ),
    "embeddings": Output("vector of each of them; zeros after", shape=("batch", "tokens", "width")),
    "token_count": Output("number of them", "int32"),
    "truncated": truncated(),
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
    """Returns the signature `embed`, if the recipe's model has an encoder.

    Args:
        recipe: Recipe of the model.
    """
    if not recipe.model.has_encoder:
        return None
    meaning = "Gives a vector of each text."
    return Signature(embed, OUTPUTS, meaning, example={"text": "A sentence."}, answer=_ANSWER)


def offer_tokens(recipe: RunRecipe) -> Signature | None:
    """Returns the signature `embed_tokens`, if the recipe's model has an encoder.

    Args:
        recipe: Recipe of the model.
    """
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
    `firth.recipes.Export` for the others. The prompt is a part of the text.

    Args:
        served: Model and tokenizer.
        text: Texts, string [batch].

    Returns:
        What `OUTPUTS` describes.
    """
    export = served.recipe.export
    encoded = served.encode(tf.strings.join([export.prompt, text]) if export.prompt else text)
    vectors = _POOLINGS[export.pooling](served, encoded)
    if export.normalize:
        vectors = tf.math.l2_normalize(vectors, axis=1)
    return {"embedding": vectors, "truncated": encoded.truncated}


def _mean(served: Served, encoded: Encoded) -> tf.Tensor:
    vectors, count = _token_vectors(served, encoded)["embeddings"], _count(encoded)
    return tf.math.divide_no_nan(tf.reduce_sum(vectors, axis=1), tf.cast(count, tf.float32)[:, tf.newaxis])


def _states(served: Served, encoded: Encoded) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the states of all tokens, special ones too, and 1 for each, float [batch, length, 1]."""
    hidden = tf.cast(served.encoder_states(encoded.features), tf.float32)
    return hidden, tf.cast(encoded.features[names.DOCUMENT_IDS] > 0, tf.float32)[:, :, tf.newaxis]


def _weighted(hidden: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    return tf.math.divide_no_nan(tf.reduce_sum(hidden * weights, axis=1), tf.reduce_sum(weights, axis=1))


def _mean_with_special(served: Served, encoded: Encoded) -> tf.Tensor:
    return _weighted(*_states(served, encoded))


def _weighted_mean(served: Served, encoded: Encoded) -> tf.Tensor:
    hidden, real = _states(served, encoded)
    return _weighted(hidden, real * tf.cumsum(real, axis=1))


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


# By `recipe.export.pooling`.
_POOLINGS = {
    "mean": _mean,
    "mean_with_special": _mean_with_special,
    "first": _first,
    "cls": _pooled,
    "last": _last,
    "max": _max,
    "mean_sqrt_length": _mean_sqrt_length,
    "weighted_mean": _weighted_mean,
}


def embed_tokens(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns one vector of each of a text's own tokens, without the special tokens around it.

    Of an encoder-decoder, they are the encoder's states; of a biLM, the mean of its layers, which stand next
    to it as `layers` (Peters et al. 2018, section 3.2).

    Args:
        served: Model and tokenizer.
        text: Texts, string [batch].

    Returns:
        What `TOKEN_OUTPUTS` describes.
    """
    encoded = served.encode(text)
    vectors = _token_vectors(served, encoded)
    columns = tf.shape(vectors["embeddings"])[1]
    return {
        "pieces": encoded.tokens.to_tensor("", shape=tf.stack([-1, columns])),
        **vectors,
        "token_count": _count(encoded),
        "truncated": encoded.truncated,
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
