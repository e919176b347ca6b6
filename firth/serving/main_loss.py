"""What the metrics need to know of the tokens that a model's main loss predicts."""

import numpy as np
import tensorflow as tf

from firth import features as names
from firth.tokenizers.vocabulary import SUFFIX_MARK

# Where an objective puts the tokens that its main loss predicts, and their weights.
_LABELS = (
    (names.MASKED_LABELS, names.MASKED_WEIGHTS),
    (names.LABEL_IDS, names.LABEL_WEIGHTS),
    (names.BACKWARD_LABEL_IDS, names.BACKWARD_LABEL_WEIGHTS),
)


def main_loss_sums(
    batch: dict[str, tf.Tensor], unigram: np.ndarray, token_bytes: np.ndarray
) -> dict[str, tf.Tensor]:
    """Returns what a unigram model would lose on the predicted tokens, and their bytes.

    Args:
        batch: Features, batched.
        unigram: float32 [vocabulary], log probabilities.
        token_bytes: float32 [vocabulary], as `bytes_of_tokens` returns them.

    Returns:
        `unigram_loss_sum` (nats) and `bytes_sum`, float32 [batch].
    """
    tables = {names.UNIGRAM_LOSS_SUM: -unigram, names.BYTES_SUM: token_bytes}
    labels = [(batch[ids], batch[weights]) for ids, weights in _LABELS if ids in batch]
    return {
        name: tf.add_n(
            [tf.reduce_sum(tf.gather(tf.constant(table), ids) * weights, -1) for ids, weights in labels]
        )
        for name, table in tables.items()
    }


def bytes_of_tokens(tokenizer) -> np.ndarray:
    """Returns the UTF-8 bytes that each token stands for: float32 [vocabulary].

    Spaces between words are in no token, and are not counted; special tokens stand for no text.
    """
    sizes = [len(token.removeprefix(SUFFIX_MARK).encode()) for token in tokenizer.get_vocabulary()]
    table = np.array(sizes, np.float32)
    table[list(tokenizer.special_ids)] = 0.0
    return table
