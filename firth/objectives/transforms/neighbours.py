"""The tokens before and after each token of a row, within its document."""

from collections.abc import Callable

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
    return _neighbours(token_ids, document_ids, lambda values: tf.concat([values[1:], [0]], 0))


def previous_tokens(token_ids: tf.Tensor, document_ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the token before each token, int32 [length], and whether there is one, bool [length].

    Args:
        token_ids: Ids of the row, int32 [length].
        document_ids: int32 [length], 0 on padding. There is no token before a document's first one.
    """
    return _neighbours(token_ids, document_ids, lambda values: tf.concat([[0], values[:-1]], 0))


def _neighbours(
    token_ids: tf.Tensor, document_ids: tf.Tensor, moved: Callable[[tf.Tensor], tf.Tensor]
) -> tuple[tf.Tensor, tf.Tensor]:
    token_ids, document_ids = tf.convert_to_tensor(token_ids), tf.convert_to_tensor(document_ids)
    exists = (document_ids > 0) & (moved(document_ids) == document_ids)
    return moved(token_ids), exists
