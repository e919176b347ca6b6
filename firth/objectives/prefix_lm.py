"""Prefix LM (Raffel et al. 2019, "Exploring the Limits of Transfer Learning", sections 3.2.1 and 3.3.1)."""

import tensorflow as tf

from firth import features
from firth.objectives.arrangement import decoder_features, encoder_decoder_features
from firth.objectives.documents import ordinary_table, read_text, write_parts
from firth.recipes.language_models import PrefixLM
from firth.recipes.tokenizer import Sequences


class PrefixLMObjective:
    """Makes Features of one row in which the rest of each document is predicted from its beginning.

    Where a document is split is uniform, with at least one token on each side; a document of one token has no
    weight. Only the rest is predicted, and the `[SEP]` behind it.

    With the arrangement `decoder` one stack reads `[CLS] prefix rest`: the prefix sees all of itself, the rest
    what stands before it. With `encoder_decoder` the encoder reads `prefix [SEP]`, and the decoder writes
    `rest [SEP]`.

    Args:
        config: The objective's part of a recipe.
        sequences: The recipe's sequences.
        tokenizer: Gives the special ids.

    Example: a document of five tokens, split behind the third one.

    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "thank you for your week".split()
    >>> tokenizer = WordPieceTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])
    >>> objective = PrefixLMObjective(PrefixLM(), Sequences(length=8, max_documents=2), tokenizer)
    >>> row = {"tokens": tf.constant([5, 6, 7, 8, 9, 0, 0]), "chunk_lengths": tf.constant([5, 0])}
    >>> made = objective(row, row, seed=[0, 1])
    >>> for name in ("token_ids", "label_ids"):
    ...     print(f"{name:15}", *(tokenizer.id_to_token(int(id)) for id in made[name]))
    token_ids       [CLS] thank you for your week [PAD] [PAD]
    label_ids       [PAD] [PAD] [PAD] your week [SEP] [PAD] [PAD]
    >>> print("attention_order", *made["attention_order"].numpy())
    attention_order 0 0 0 0 4 5 0 0
    """

    def __init__(self, config: PrefixLM, sequences: Sequences, tokenizer):
        self._config = config
        self._sequences = sequences
        self._pad_id, self._cls_id, self._sep_id = tokenizer.pad_id, tokenizer.cls_id, tokenizer.sep_id
        self._ordinary = ordinary_table(tokenizer)

    @property
    def raw_length(self) -> int:
        """Tokens of a row as the corpus writes it: the length less one special token."""
        return self._config.raw_length(self._sequences)

    def specs(self) -> dict[str, features.Spec]:
        """Returns the specs of what a call gives, for one example."""
        length = self._sequences.length
        if self._config.arrangement == "decoder":
            return {
                **features.encoder_specs(length, segments=False, order=True),
                **features.label_specs(length),
            }
        return {
            **features.encoder_specs(length, segments=False),
            **features.decoder_specs(length),
            **features.label_specs(length),
        }

    def __call__(self, row, partner, seed) -> dict[str, tf.Tensor]:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            partner: Not used.
            seed: int32 or int64 [2].
        """
        del partner
        text = read_text(row, self._ordinary)
        prefix = _prefix_lengths(text.lengths, seed)
        is_prefix = text.offsets < tf.gather(tf.concat([prefix, [0]], 0), text.documents)
        weights = tf.cast(prefix > 0, tf.float32)
        one_stack = self._config.arrangement == "decoder"
        first, last = (self._cls_id, None) if one_stack else (None, self._sep_id)
        inputs = self._write(text, text.is_token & is_prefix, prefix, first, last)
        rest = text.lengths - prefix
        targets = self._write(text, text.is_token & ~is_prefix, rest, None, self._sep_id)
        if one_stack:
            return decoder_features(inputs, targets, weights, self._sequences.length)
        return encoder_decoder_features(inputs, targets, weights, self._pad_id)

    def _write(self, text, chosen, lengths, first, last):
        """Returns the chosen tokens of each document, with a special token before or behind them."""
        exists = text.lengths > 0
        padded = tf.where(exists, lengths + 1, 0)
        starts = tf.cumsum(padded, exclusive=True)
        count = tf.cumsum(tf.cast(chosen, tf.int32), exclusive=True)
        before = tf.gather(
            tf.cumsum(lengths, exclusive=True), tf.minimum(text.documents, tf.size(lengths) - 1)
        )
        start = tf.gather(starts, tf.minimum(text.documents, tf.size(lengths) - 1))
        places = start + count - before + (1 if first is not None else 0)
        special = tf.fill([exists.shape[0]], first if first is not None else last)
        special_places = starts if first is not None else starts + padded - 1
        return write_parts(
            self._sequences.length,
            padded,
            [(chosen, places, text.tokens), (exists, special_places, special)],
        )


def _prefix_lengths(lengths, seed):
    """Returns where each document is split, uniform in 1 to its length - 1; 0 for one that cannot be."""
    draws = tf.random.stateless_uniform(tf.shape(lengths), seed, alg="philox")
    splits = 1 + tf.cast(draws * tf.cast(lengths - 1, tf.float32), tf.int32)
    return tf.where(lengths > 1, tf.minimum(splits, lengths - 1), 0)
