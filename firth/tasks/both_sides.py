"""The decoder's side of a form in which a decoder reads the texts that the encoder reads."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from firth import features as names
from firth.recipes.tasks.forms import Form


def decoder_side(features: Mapping[str, tf.Tensor], form: Form, tokenizer: Any) -> dict[str, tf.Tensor]:
    """Returns the features of a decoder that reads each record from a start token on, without its last token.

    Where the form has no decoder, there are none. A state of the decoder stands in the place of the token
    that it would write.

    Args:
        features: Features of the encoder, int32 [..., length] each.
        form: Form of the texts.
        tokenizer: Tokenizer of the base.

    Example:

    >>> from firth.recipes.tasks.forms import BARTForm
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"])
    >>> row = {"token_ids": [2, 5, 3, 2, 6, 3, 0], "position_ids": [0, 1, 2, 0, 1, 2, 0]}
    >>> row["document_ids"] = [1, 1, 1, 2, 2, 2, 0]
    >>> made = decoder_side({name: tf.constant(ids) for name, ids in row.items()}, BARTForm(), tokenizer)
    >>> made["decoder_token_ids"].numpy().tolist()
    [3, 2, 5, 3, 2, 6, 0]
    """
    if not form.decoder_start:
        return {}
    start = getattr(tokenizer, f"{form.decoder_start}_id")
    positions, documents = features[names.POSITION_IDS], features[names.DOCUMENT_IDS]
    before = tf.where(positions > 0, tf.roll(features[names.TOKEN_IDS], 1, -1), start)
    return {
        names.DECODER_TOKEN_IDS: tf.where(documents > 0, before, tokenizer.pad_id),
        names.DECODER_POSITION_IDS: positions,
        names.DECODER_DOCUMENT_IDS: documents,
    }
