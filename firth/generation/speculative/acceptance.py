"""Which proposed tokens are kept, so that the distribution of texts is that of the model alone."""

import tensorflow as tf


def accept(
    tokens: tf.Tensor, proposed: tf.Tensor, shares: tf.Tensor, uniform: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns how many proposed tokens each row keeps, and the distribution of the token after them.

    Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding", section 2.3.

    Args:
        tokens: Proposed tokens, int32 [batch, count].
        proposed: Distribution that each was drawn from, float32 [batch, count, vocabulary].
        shares: The model's own at the same places and the next one, float32 [batch, count + 1, vocabulary].
        uniform: A number in [0, 1) for each proposed token, float32 [batch, count].

    Returns:
        int32 [batch], and unnormalised shares, float32 [batch, vocabulary]: what the model's distribution has
        over that of the proposal where a token was refused, and the model's own where all were kept.

    Example:

    >>> proposed, shares = tf.constant([[[1.0, 0.0]]]), tf.constant([[[0.25, 0.75]] * 2])
    >>> kept, after = accept(tf.constant([[0]]), proposed, shares, tf.constant([[0.5]]))
    >>> kept.numpy().tolist(), after.numpy().tolist()
    ([0], [[0.0, 0.75]])
    """
    count = tf.shape(tokens)[1]
    wanted = tf.gather(shares[:, :count], tokens, batch_dims=2)
    offered = tf.gather(proposed, tokens, batch_dims=2)
    kept = tf.reduce_sum(tf.math.cumprod(tf.cast(uniform * offered < wanted, tf.int32), axis=1), axis=1)
    own = tf.gather(shares, kept, batch_dims=1)
    refused = tf.gather(tf.pad(proposed, [[0, 0], [0, 1], [0, 0]]), kept, batch_dims=1)
    rest = tf.maximum(own - refused, 0.0)
    # Rounding may leave nothing where both are the same.
    return kept, tf.where(tf.reduce_sum(rest, axis=1, keepdims=True) > 0.0, rest, own)
