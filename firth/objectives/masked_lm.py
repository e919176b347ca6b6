"""Masked LM, with next sentence prediction (Devlin et al. 2018) or sentence order (Lan et al. 2019)."""

import tensorflow as tf

from firth import features
from firth.objectives.base import Features, MaskingObjective, Row, Specs, Tokenizer
from firth.objectives.rates.selection_rates import masked_lm_rates
from firth.objectives.transforms.layout import Frame, Layout, lay_out
from firth.objectives.transforms.masking import select_pieces, select_words
from firth.objectives.transforms.next_sentences import choose_pairs
from firth.objectives.transforms.pairs import Pairs, choose_order, single_segments
from firth.objectives.transforms.runs import harmonic_lengths, select_runs


class MaskedLMObjective(MaskingObjective):
    """Makes Features of one row: some tokens hidden, and what stood there as labels (BERT, section 3.1).

    Of each row `max(1, round(mask_rate x maskable tokens))` tokens are predicted, at most
    `max_predictions` (see `masking.count_predictions`, also for how other implementations count). Of
    those, `mask_token_rate` become `[MASK]`, `random_token_rate` a random piece (which may happen to be
    the original) and the others stay. Which of the three is drawn for each piece on its own, as
    google-research/bert does, also where whole words or runs of them are selected.

    Padding and special tokens are never selected: neither the `[CLS]` and `[SEP]` put in here nor any
    special id of the text, such as `[UNK]` or a `[MASK]` that somebody typed. Random pieces are not special
    ones, unless `paper_exact`.

    With `max_ngram` runs of whole words are selected, as in ALBERT (Lan et al. 2019, section 4.1); the last
    one is cut where the predictions are used up.

    With pairs each chunk is split in two (see `pairs.split_chunks`): `[CLS] A [SEP] B [SEP]`. The label of
    next sentence prediction is 1 where B is a segment of another document; that of sentence order is 1 where
    A and B are swapped, both always being of one document (ALBERT, section 3.1). A chunk of fewer than two
    tokens gets weight 0, as does one for which the negative row has no segment (see `next_sentences`).

    All randomness comes from the seed: the same row, negative row and seed give the same features, on any
    machine and in any order.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids and the size of the vocabulary.

    Raises:
        ValueError: if `max_predictions` exceeds the length, or no piece is left to draw.

    Example: two documents packed in a row of 24, their sentences marked by where they start, whole words of
    which a quarter is predicted, and sentence order. The sentences of the second document are swapped.

    >>> from firth.recipes import MaskedLM, Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "Thank you for inviting me to your party last week .".split()
    >>> more = "It was fun . We danced .".split()
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(words + more)]
    >>> tokenizer = WordPieceTokenizer(pieces, lowercase=False)
    >>> config = MaskedLM(mask_rate=0.25, whole_word=True, next_sentence=False, sentence_order=True)
    >>> objective = MaskedLMObjective(config, Sequences(length=24, max_documents=2), tokenizer)
    >>> row = {
    ...     "tokens": tokenizer.tokenize(" ".join(words + more)),
    ...     "word_starts": tf.ones(18, tf.int32),
    ...     "sentence_starts": tf.one_hot(0, 18) + tf.one_hot(11, 18) + tf.one_hot(15, 18),
    ...     "chunk_lengths": tf.constant([11, 7]),
    ... }
    >>> made = objective(row, None, seed=[1, 2])
    >>> print(" ".join(map(tokenizer.id_to_token, made["token_ids"].numpy())))
    [CLS] [MASK] [MASK] for inviting me [SEP] to your was last week . [SEP]
        [CLS] We danced [MASK] [SEP] It was fun . [SEP]
    >>> print(" ".join(map(tokenizer.id_to_token, made["masked_labels"].numpy()[:4])))
    Thank you party .
    >>> for name in ("masked_positions", "segment_ids", "sentence_order_labels"):
    ...     print(f"{name:16}", *made[name].numpy())
    masked_positions 1 2 9 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
    segment_ids      0 0 0 0 0 0 0 1 1 1 1 1 1 1 0 0 0 0 0 1 1 1 1 1
    sentence_order_labels 0 1
    """

    rates = staticmethod(masked_lm_rates)

    def _prepare(self, tokenizer: Tokenizer) -> None:
        super()._prepare(tokenizer)
        between = (tokenizer.sep_id,) if self._config.has_pairs else ()
        self._frame = Frame((tokenizer.cls_id,), between, (tokenizer.sep_id,))

    def specs(self) -> Specs:
        """Returns the specs of what a call gives, for one example."""
        if not self._config.has_pairs:
            return super().specs()
        return {**super().specs(), **features.pair_specs(self._sequences.max_documents, self._task)}

    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Negative row, which random segments come from; no label if it is all zeros. Not
                used without next sentence prediction.
            seed: int32 or int64 [2].
        """
        seeds = tf.random.split(seed, num=8, alg="philox")
        pairs = self._pairs(row, negative, seeds[:4])
        foreign = negative if self._config.next_sentence else None
        layout = lay_out(row, foreign, pairs, self._sequences.length, self._frame, self._pad_id)
        chosen = self._choice.predict(layout.token_ids, self._select(layout, row, (seeds[4], seeds[7])))
        made = self._masked(layout, chosen, seeds[5:7])
        return {**made, **self._pair_features(self._task, pairs, layout)} if self._config.has_pairs else made

    @property
    def _task(self) -> str:
        return "next_sentence" if self._config.next_sentence else "sentence_order"

    def _pairs(self, row: Row, negative: Row, seeds: tf.Tensor) -> Pairs:
        if self._config.next_sentence:
            return choose_pairs(row, negative, self._config.random_next_rate, seeds)
        if self._config.sentence_order:
            return choose_order(row, self._config.swap_rate, seeds[:2])
        return single_segments(row)

    def _select(self, layout: Layout, row: Row, seeds: tf.Tensor) -> tf.Tensor:
        """Returns bool [length]."""
        maskable, budget = self._maskable(layout, row)
        if self._config.max_ngram > 1:
            lengths = harmonic_lengths(self._config.max_ngram)
            return select_runs(maskable, layout.word_starts, lengths, budget, seeds)
        if self._config.whole_word:
            return select_words(maskable, layout.word_starts, budget, seeds[0])
        return select_pieces(maskable, budget, seeds[0])
