"""Masked LM with next sentence prediction (Devlin et al. 2018, section 3.1)."""

import numpy as np
import tensorflow as tf

from firth import features
from firth.objectives import pairs as pairing
from firth.objectives import selection
from firth.objectives.layout import SpecialIds, lay_out
from firth.recipes.objective import MaskedLM
from firth.recipes.tokenizer import Sequences


class MaskedLMObjective:
    """Makes Features of one row: pairs of segments, some tokens hidden, and what stood there as labels.

    Of each row `max(1, round(mask_rate x maskable tokens))` tokens are predicted, at most
    `max_predictions` (see `selection.count_predictions`, also for how other implementations count). Of
    those, `mask_token_rate` become `[MASK]`, `random_token_rate` a random piece (which may happen to be
    the original) and the others stay. Which of the three is drawn for each piece on its own, as
    google-research/bert does, also where whole words are selected.

    Padding and special tokens are never selected: neither the `[CLS]` and `[SEP]` put in here nor any
    special id of the text, such as `[UNK]` or a `[MASK]` that somebody typed. Random pieces are no special
    ones, unless `paper_exact`.

    Next sentence prediction splits each chunk in two (see `pairs.split_chunks`). The label is 1 where the
    second segment is a random one. A chunk of fewer than two tokens gets weight 0.

    All randomness comes from the seed: the same row, partner and seed give the same features, on any
    machine and in any order.

    Args:
        config: The objective's part of a recipe.
        sequences: The recipe's sequences.
        tokenizer: Gives the special ids and the size of the vocabulary.

    Raises:
        ValueError: if `max_predictions` exceeds the length, or no piece is left to draw.

    Example: documents of six and five tokens packed in a row of 16, without pairs. Two of the eleven tokens
    are predicted: the first gave way to a random piece, 19, and the last to `[MASK]`, which is 4.

    >>> from firth.recipes.objective import MaskedLM
    >>> from firth.recipes.tokenizer import Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> letters = [chr(ord("a") + i) for i in range(20)]
    >>> tokenizer = WordPieceTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters])
    >>> config = MaskedLM(next_sentence=False, max_predictions=3)
    >>> objective = MaskedLMObjective(config, Sequences(length=16, max_documents=2), tokenizer)
    >>> row = {
    ...     "example_id": tf.constant(7, tf.int64),
    ...     "tokens": tf.constant([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 0, 0, 0]),
    ...     "word_starts": tf.constant([1] * 11 + [0] * 3),
    ...     "sentence_starts": tf.constant([1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
    ...     "chunk_lengths": tf.constant([6, 5]),
    ...     "document_keys": tf.constant([100, 200], tf.int64),
    ... }
    >>> nobody = {name: tf.zeros_like(value) for name, value in row.items()}
    >>> made = objective(row, nobody, seed=[1, 12])
    >>> for name in ("token_ids", "document_ids", "position_ids", "masked_positions", "masked_labels"):
    ...     print(f"{name:16}", *(f"{value:2}" for value in made[name].numpy()))
    token_ids         2 19 11 12 13 14 15  3  2 16 17 18 19  4  3  0
    document_ids      1  1  1  1  1  1  1  1  2  2  2  2  2  2  2  0
    position_ids      0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  0
    masked_positions  1 13  0
    masked_labels    10 20  0
    """

    def __init__(self, config: MaskedLM, sequences: Sequences, tokenizer):
        if config.max_predictions > sequences.length:
            raise ValueError(
                f"max_predictions: {config.max_predictions} is above the length: {sequences.length}"
            )
        self._config = config
        self._sequences = sequences
        self._special_ids = tuple(tokenizer.special_ids)
        self._mask_id = tokenizer.mask_id
        self._ids = SpecialIds(tokenizer.pad_id, tokenizer.cls_id, tokenizer.sep_id)
        self._drawable = _drawable_ids(tokenizer, config.paper_exact)

    @property
    def raw_length(self) -> int:
        """Tokens of a row as the corpus writes it: the length less the special tokens of one document."""
        return self._sequences.length - self._config.special_tokens

    def specs(self) -> dict[str, features.Spec]:
        """Returns the specs of what a call gives, for one example."""
        sequences = self._sequences
        return features.masked_lm_specs(
            sequences.length, self._config.max_predictions, sequences.max_documents
        )

    def __call__(self, row, partner, seed) -> dict[str, tf.Tensor]:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            partner: The row that random second segments come from; all zeros to have true pairs only.
            seed: int32 or int64 [2].
        """
        seeds = tf.random.split(seed, num=7, alg="philox")
        pairs = self._pairs(row, partner, seeds[:4])
        next_sentence = self._config.next_sentence
        layout = lay_out(row, partner, pairs, self._sequences.length, next_sentence, self._ids)
        return {
            **self._masked(layout, seeds[4:]),
            features.SEGMENT_IDS: layout.segment_ids,
            features.POSITION_IDS: layout.position_ids,
            features.DOCUMENT_IDS: layout.document_ids,
            features.POOLED_POSITIONS: layout.cls_positions,
            features.NEXT_SENTENCE_LABELS: tf.cast(pairs.is_random, tf.int32),
            features.NEXT_SENTENCE_WEIGHTS: tf.cast(pairs.is_pair, tf.float32),
        }

    def _pairs(self, row, partner, seeds):
        if not self._config.next_sentence:
            return pairing.single_segments(row)
        return pairing.choose_pairs(row, partner, self._config.random_next_rate, seeds)

    def _masked(self, layout, seeds):
        positions = self._choose_positions(layout, seeds[0])
        # One place more than the row has takes what unused predictions write.
        tokens = tf.concat([layout.token_ids, [0]], 0)
        weights = positions < self._sequences.length
        labels = tf.where(weights, tf.gather(tokens, positions), 0)
        shown = self._corrupt(labels, seeds[1:])
        return {
            features.TOKEN_IDS: tf.tensor_scatter_nd_update(tokens, positions[:, tf.newaxis], shown)[:-1],
            features.MASKED_POSITIONS: tf.where(weights, positions, 0),
            features.MASKED_LABELS: labels,
            features.MASKED_WEIGHTS: tf.cast(weights, tf.float32),
        }

    def _choose_positions(self, layout, seed):
        """Returns int32 [max_predictions]: ascending, the length of the row behind."""
        config, length = self._config, self._sequences.length
        special = tf.reduce_any(layout.token_ids[:, tf.newaxis] == tf.constant(self._special_ids), axis=1)
        maskable = layout.is_text & ~special
        budget = selection.count_predictions(maskable, config.mask_rate, config.max_predictions)
        if config.whole_word:
            selected = selection.select_words(maskable, layout.word_starts, budget, seed)
        else:
            selected = selection.select_pieces(maskable, budget, seed)
        return tf.sort(tf.where(selected, tf.range(length), length))[: config.max_predictions]

    def _corrupt(self, labels, seeds):
        config, shape = self._config, tf.shape(labels)
        draws = tf.random.stateless_uniform(shape, seeds[0], alg="philox")
        choices = tf.random.stateless_uniform(
            shape, seeds[1], maxval=len(self._drawable), dtype=tf.int32, minval=0, alg="philox"
        )
        shown = tf.where(
            draws < config.mask_token_rate + config.random_token_rate,
            tf.gather(self._drawable, choices),
            labels,
        )
        return tf.where(draws < config.mask_token_rate, self._mask_id, shown)


def _drawable_ids(tokenizer, paper_exact: bool) -> np.ndarray:
    every = np.arange(tokenizer.vocabulary_size(), dtype=np.int32)
    drawable = every if paper_exact else np.setdiff1d(every, tokenizer.special_ids)
    if not drawable.size:
        raise ValueError("the vocabulary has no piece to draw: all its pieces are special")
    return drawable
