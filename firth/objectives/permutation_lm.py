"""Permutation language modelling (Yang et al. 2019, "XLNet", sections 2.2 to 2.5)."""

import tensorflow as tf

from firth import features
from firth.objectives.base import Features, ObjectiveFunction, Row, Specs, Tokenizer
from firth.objectives.rates.selection_rates import permutation_lm_rates
from firth.objectives.transforms.layout import Frame, Layout, lay_out
from firth.objectives.transforms.masking import Choice
from firth.objectives.transforms.pairs import true_pairs
from firth.objectives.transforms.runs import select_runs, uniform_lengths


class PermutationLMObjective(ObjectiveFunction):
    """Puts the tokens of each document in a random order, whose last ones are predicted from those before.

    Each chunk is split in two (see `pairs.split_chunks`): `A [SEP] B [SEP] [CLS]`, with the segment ids 0, 1
    and, for `[CLS]`, 2. No token id is hidden: `attention_order` alone decides which tokens a token
    sees. It is 0 for the special tokens put in here, which all tokens see; then follow, in
    a random order, the tokens that are not predicted; and then, in a random order, those that are. No two of
    the text have the same order.

    Of each row `max(1, round(predicted_fraction x maskable tokens))` tokens are predicted, in spans of 1 to
    `max_span` pieces, all lengths as likely. Special ids of the text, such as `[UNK]`, are never predicted.

    In the reference code all tokens that are not predicted see one another, whatever their order; here they
    see those before them, as in the paper's equations.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids.

    Raises:
        ValueError: if `max_predictions` exceeds the length.

    Example: four of eleven tokens are predicted, and the highest orders are theirs.

    >>> from firth.recipes import PermutationLM, Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "Thank you for inviting me to your party last week .".split()
    >>> tokenizer = WordPieceTokenizer(
    ...     ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words], lowercase=False
    ... )
    >>> config = PermutationLM(predicted_fraction=0.35, max_predictions=5)
    >>> objective = PermutationLMObjective(config, Sequences(length=14), tokenizer)
    >>> row = {
    ...     "tokens": tokenizer.tokenize(" ".join(words)),
    ...     "word_starts": tf.ones(11, tf.int32),
    ...     "sentence_starts": tf.one_hot(0, 11),
    ...     "chunk_lengths": tf.constant([11]),
    ... }
    >>> made = objective(row, None, seed=[1, 2])
    >>> for name in ("token_ids", "masked_labels"):
    ...     print(" ".join(map(tokenizer.id_to_token, made[name].numpy())))
    Thank you for inviting me [SEP] to your party last week . [SEP] [CLS]
    to your party last [PAD]
    >>> for name in ("attention_order", "segment_ids", "masked_positions"):
    ...     print(f"{name:16}", *made[name].numpy())
    attention_order  3 4 1 7 6 0 10 11 8 9 2 5 0 0
    segment_ids      0 0 0 0 0 0 1 1 1 1 1 1 1 2
    masked_positions 6 7 8 9 0
    """

    rates = staticmethod(permutation_lm_rates)

    def _prepare(self, tokenizer: Tokenizer) -> None:
        self._choice = Choice(
            self._config.predicted_fraction, self._config.max_predictions, self._sequences.length, tokenizer
        )
        self._frame = Frame(between=(tokenizer.sep_id,), after=(tokenizer.sep_id, tokenizer.cls_id))

    def specs(self) -> Specs:
        """Returns the specs of what a call gives, for one example."""
        return {
            **features.encoder_specs(self._sequences.length, order=True),
            **features.selection_specs(self._config.max_predictions),
        }

    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Not used.
            seed: int32 or int64 [2].
        """
        seeds = tf.random.split(seed, num=4, alg="philox")
        pairs = true_pairs(row, seeds[0])
        layout = lay_out(row, None, pairs, self._sequences.length, self._frame, self._pad_id)
        maskable, budget = self._choice.maskable(layout)
        selected = select_runs(maskable, None, uniform_lengths(self._config.max_span), budget, seeds[1:3])
        # The last of the frame's ids is [CLS].
        is_cls = layout.sources == tf.size(row[features.RAW_TOKENS]) + len(self._frame.ids)
        return {
            **layout.encoder_features(),
            features.SEGMENT_IDS: layout.segment_ids + tf.cast(is_cls, tf.int32),
            features.ATTENTION_ORDER: _random_order(layout, selected, seeds[3]),
            **self._choice.predict(layout.token_ids, selected).features(),
        }


def _random_order(layout: Layout, selected: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Returns int32 [length]: 0 but for the text, whose selected tokens come last."""
    draws = tf.random.stateless_uniform(tf.shape(selected), seed, alg="philox")
    draws = tf.where(selected, draws + 1.0, draws)
    places = tf.argsort(tf.where(layout.is_text, draws, 2.0), stable=True)
    return tf.where(layout.is_text, tf.math.invert_permutation(places) + 1, 0)
