"""The tokens before and after each token of a row, within its document."""

import tensorflow as tf


def next_tokens(token_ids: tf.Tensor, document_ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the token after each token, int32 [length], and whether there is one, bool [length].

    Args:
        token_ids: Ids of the row, int32 [length].
        document_ids: int32 [length], 0 on padding. There is no token after a document's last one.

    Example:

    >>> ids, exists = next_tokens([5, 6, 7, 0], [1, 1, 2, 0])
    >>> (ids * tf.cast(exists, tf.int32)).numpy()
    array([6, 0, 0, 0], dtype=int32)
    """
    token_ids, document_ids = tf.convert_to_tensor(token_ids), tf.convert_to_tensor(document_ids)
    after = tf.concat([document_ids[1:], [0]], 0)
    exists = (document_ids > 0) & (after == document_ids)
    return tf.concat([token_ids[1:], [0]], 0), exists


def previous_tokens(token_ids: tf.Tensor, document_ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the token before each token, int32 [length], and whether there is one, bool [length].

    Args:
        token_ids: Ids of the row, int32 [length].
        document_ids: int32 [length], 0 on padding. There is no token before a document's first one.
    """
    token_ids, document_ids = tf.convert_to_tensor(token_ids), tf.convert_to_tensor(document_ids)
    before = tf.concat([[0], document_ids[:-1]], 0)
    exists = (document_ids > 0) & (before == document_ids)
    return tf.concat([[0], token_ids[:-1]], 0), exists
