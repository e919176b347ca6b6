"""The signatures `embed` and `embed_tokens`: vectors of texts and of their pieces."""

import tensorflow as tf

from firth.serving.served import Served


def embed(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Makes one vector of each text, as `recipe.export.pooling` says.

    Args:
        served: The model and its tokenizer.
        text: string [batch].

    Returns:
        embedding: float32 [batch, width]; with `mean`, the mean over the vectors that `embed_tokens` gives,
            which is zero for a text without pieces; with `cls`, the pooled `[CLS]`.
        truncated: bool [batch].
    """
    encoded = served.encode(text)
    hidden = served.model.backbone(encoded.features, training=False)
    if served.recipe.export.pooling == "cls":
        first = tf.zeros([tf.shape(text)[0], 1], tf.int32)
        embedding = tf.cast(served.model.pooler(hidden, first)[:, 0], tf.float32)
    else:
        vectors, count = _own_vectors(hidden, encoded.pieces)
        embedding = tf.math.divide_no_nan(
            tf.reduce_sum(vectors, axis=1), tf.cast(count, tf.float32)[:, tf.newaxis]
        )
    return {"embedding": embedding, "truncated": encoded.truncated}


def embed_tokens(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Makes one vector of each of a text's own pieces, `[CLS]` and `[SEP]` not among them.

    Args:
        served: The model and its tokenizer.
        text: string [batch].

    Returns:
        pieces: string [batch, tokens], empty behind a text's last piece.
        embeddings: float32 [batch, tokens, width], zeros behind.
        token_count: int32 [batch].
        truncated: bool [batch].
    """
    encoded = served.encode(text)
    hidden = served.model.backbone(encoded.features, training=False)
    vectors, count = _own_vectors(hidden, encoded.pieces)
    pieces = encoded.pieces.with_flat_values(served.pieces(encoded.pieces.flat_values))
    return {
        "pieces": pieces.to_tensor("", shape=tf.stack([-1, tf.shape(vectors)[1]])),
        "embeddings": vectors,
        "token_count": count,
        "truncated": encoded.truncated,
    }


def _own_vectors(hidden: tf.Tensor, pieces: tf.RaggedTensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the vectors of the texts' own pieces, float32 [batch, tokens, width], and their number."""
    count = tf.cast(pieces.row_lengths(), tf.int32)
    own = tf.cast(hidden[:, 1:-1], tf.float32)
    real = tf.sequence_mask(count, tf.shape(own)[1])[:, :, tf.newaxis]
    return tf.where(real, own, 0.0), count
