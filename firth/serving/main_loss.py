"""Sums over the tokens that a model's main loss predicts, for the metrics."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.models.outputs.predictions import Predictions

if TYPE_CHECKING:
    from firth.tokenizers.storage import AnyTokenizer


# Where an objective puts the tokens that its main loss predicts, and their weights.
_LABELS = (
    (names.MASKED_LABELS, names.MASKED_WEIGHTS),
    (names.LABEL_IDS, names.LABEL_WEIGHTS),
    (names.BACKWARD_LABEL_IDS, names.BACKWARD_LABEL_WEIGHTS),
)


def text_sums(
    batch: dict[str, tf.Tensor], main: Predictions, unigram: npt.NDArray[Any], token_bytes: npt.NDArray[Any]
) -> dict[str, tf.Tensor]:
    """Returns the losses of the model and of a unigram model on the same predicted text.

    Only tokens that stand for text count: a sentinel or the end of a document has no bytes, and a model of
    counts knows nothing of them, so that with them no two objectives would compare.

    Args:
        unigram: Log probabilities, float32 [vocabulary].
        token_bytes: Bytes of each token, float32 [vocabulary], as `bytes_of_tokens` returns them.

    Returns:
        `text_loss_sum` and `unigram_loss_sum` (nats), `text_weight_sum` and `bytes_sum`, float32 [batch].
    """
    labels = [(batch[ids], batch[weights]) for ids, weights in _LABELS if ids in batch]
    ids, weights = (tf.concat(parts, axis=1) for parts in zip(*labels))
    sizes = tf.gather(tf.constant(token_bytes), ids)
    weights = tf.where(sizes > 0, weights, 0.0)
    values = {
        names.TEXT_LOSS_SUM: main.losses,
        names.TEXT_WEIGHT_SUM: tf.ones_like(weights),
        names.UNIGRAM_LOSS_SUM: -tf.gather(tf.constant(unigram), ids),
        names.BYTES_SUM: sizes,
    }
    return {name: tf.reduce_sum(value * weights, axis=1) for name, value in values.items()}


def bytes_of_tokens(tokenizer: "AnyTokenizer") -> npt.NDArray[Any]:
    """Returns the UTF-8 bytes that each token stands for: float32 [vocabulary].

    A space counts if it is part of a token, as with byte-pair encoding and SentencePiece; spaces between
    words that are in no token do not count. Special tokens stand for no text.
    """
    table = np.array([len(text) for text in tokenizer.piece_texts], np.float32)
    table[list(tokenizer.special_ids)] = 0.0
    return table
