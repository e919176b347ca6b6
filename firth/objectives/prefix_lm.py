"""Prefix language modelling (Raffel et al. 2019, "T5", section 3.2.1; Liu et al. 2018)."""

import tensorflow as tf

from firth import features
from firth.objectives.base import Features, ObjectiveFunction, Row, Tokenizer
from firth.objectives.rates.label_rates import prefix_lm_rates
from firth.objectives.transforms.documents import Parts
from firth.objectives.transforms.layout import Frame, lay_out
from firth.objectives.transforms.pairs import Pairs, chunk_starts


class PrefixLMObjective(ObjectiveFunction):
    """Splits each document in two, and predicts the second part from the first and from itself.

    The place of the split is uniform, with a token at least on each side. Only the rest and the `[SEP]`
    after it are predicted. A document of one token is all prefix, and nothing of it is predicted.

    - `decoder`: one stack reads `[CLS] prefix rest`. In `attention_order` the prefix is 0, so its tokens see
      one another; the rest ascends.
    - `encoder_decoder`: the encoder reads `prefix [SEP]`, the decoder `[PAD] rest`, as T5 begins with its
      padding; the labels are `rest [SEP]`.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids.

    Example: both architectures of the same row and seed.

    >>> from firth.recipes import PrefixLM, Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "Thank you for inviting me to your party last week .".split()
    >>> tokenizer = WordPieceTokenizer(
    ...     ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words], lowercase=False
    ... )
    >>> row = {
    ...     "tokens": tokenizer.tokenize(" ".join(words)),
    ...     "word_starts": tf.ones(11, tf.int32),
    ...     "chunk_lengths": tf.constant([11]),
    ... }
    >>> def show(architecture, *names):
    ...     config = PrefixLM(architecture=architecture)
    ...     made = PrefixLMObjective(config, Sequences(length=12), tokenizer)(row, None, seed=[1, 2])
    ...     for name in names:
    ...         print(" ".join(map(tokenizer.id_to_token, made[name].numpy())))
    ...     return made
    >>> made = show("decoder", "token_ids", "label_ids")
    [CLS] Thank you for inviting me to your party last week .
    [PAD] [PAD] [PAD] [PAD] [PAD] [PAD] [PAD] [PAD] [PAD] week . [SEP]
    >>> print(made["attention_order"].numpy())
    [ 0  0  0  0  0  0  0  0  0  0 10 11]
    >>> made = show("encoder_decoder", "token_ids", "decoder_token_ids", "label_ids")
    Thank you for inviting me to your party last [SEP] [PAD] [PAD]
    [PAD] week . [PAD] [PAD] [PAD] [PAD] [PAD] [PAD] [PAD] [PAD] [PAD]
    week . [SEP] [PAD] [PAD] [PAD] [PAD] [PAD] [PAD] [PAD] [PAD] [PAD]
    """

    rates = staticmethod(prefix_lm_rates)

    def _prepare(self, tokenizer: Tokenizer) -> None:
        self._rest_frame = Frame(after=(tokenizer.sep_id,))
        is_one_stack = self._config.architecture == "decoder"
        self._prefix_frame = Frame(before=(tokenizer.cls_id,)) if is_one_stack else self._rest_frame

    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Not used.
            seed: int32 or int64 [2].
        """
        lengths, starts = row[features.CHUNK_LENGTHS], chunk_starts(row)
        prefixes = draw_prefixes(lengths, seed)
        inputs = self._parts(row, starts, prefixes, self._prefix_frame)
        targets = self._parts(row, starts + prefixes, lengths - prefixes, self._rest_frame)
        weights = tf.cast(lengths >= 2, tf.float32)
        return self._read_by_architecture(inputs, targets, weights)

    def _parts(self, row: Row, sources: tf.Tensor, lengths: tf.Tensor, frame: Frame) -> Parts:
        nothing, never = tf.zeros_like(lengths), tf.zeros_like(lengths, tf.bool)
        segments = Pairs(sources, lengths, nothing, nothing, never, never)
        layout = lay_out(row, None, segments, self._sequences.length, frame, self._pad_id)
        exists = row[features.CHUNK_LENGTHS] > 0
        return Parts(layout.token_ids, tf.where(exists, lengths + len(frame.ids), 0))


def draw_prefixes(lengths: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Returns the number of tokens of each prefix: uniform in 1 to n - 1 of n tokens, and 1 of one.

    Args:
        lengths: Tokens of each document, int32 [max_documents].
        seed: Seed, int32 or int64 [2].

    Example:

    >>> draw_prefixes(tf.constant([2, 1, 0]), seed=[0, 1]).numpy()
    array([1, 1, 0], dtype=int32)
    """
    draws = tf.random.stateless_uniform(tf.shape(lengths), seed, alg="philox")
    most = tf.maximum(lengths - 1, 1)
    drawn = 1 + tf.cast(draws * tf.cast(most, tf.float32), tf.int32)
    # A draw just below 1 may be rounded up to `most`.
    return tf.minimum(tf.minimum(drawn, most), lengths)
