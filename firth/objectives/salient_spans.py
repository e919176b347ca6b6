"""Salient span masking (Guu et al. 2020, "REALM", section 3.4; Roberts et al. 2020)."""

import tensorflow as tf

from firth.objectives.base import Row, Tokenizer
from firth.objectives.rates.sentinel_rates import salient_spans_rates
from firth.objectives.sentinel_objective import SentinelObjective
from firth.objectives.transforms.documents import Text, count_by_document
from firth.objectives.transforms.salience import SalienceRules
from firth.objectives.transforms.spans import Noise, choose_tokens, random_spans
from firth.recipes.objectives.denoising import SalientSpans


class SalientSpansObjective(SentinelObjective):
    """One name, date or number of each document gives way to a sentinel.

    Salient words are found by rule, see `SalienceRules`; neighbours make one span, and each span of a
    document is as likely to be chosen. A document without any is corrupted as `SpanCorruptionObjective` does
    with the recipe's `noise_density`, or has no weight in the loss where `fallback` is off.

    All else is as in `SpanCorruptionObjective`, the arguments included.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Cased tokenizer of the rows; gives the special ids and the sentinels.

    Raises:
        ValueError: if the tokenizer has too few sentinels, or lower-cases.

    Example: `Ada Lovelace`, `Byron` and `10 December 1815` could be chosen.

    >>> from firth.recipes.objectives.denoising import SalientSpans
    >>> from firth.recipes.tokenizers.tokenizer import Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "The poet Byron was the father of Ada Lovelace , born on 10 December 1815 .".split()
    >>> sentinels = ["<extra_id_1>", "<extra_id_0>"]
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *sentinels]
    >>> tokenizer = WordPieceTokenizer(pieces, lowercase=False)
    >>> objective = SalientSpansObjective(SalientSpans(), Sequences(length=17, max_documents=1), tokenizer)
    >>> row = {
    ...     "tokens": tokenizer.tokenize(" ".join(words)),
    ...     "word_starts": tf.ones([16], tf.int32),
    ...     "sentence_starts": tf.one_hot(0, 16, dtype=tf.int32),
    ...     "chunk_lengths": tf.constant([16]),
    ... }
    >>> made = objective(row, None, seed=[1, 2])
    >>> for name in ("token_ids", "label_ids"):
    ...     print(" ".join(map(tokenizer.id_to_token, made[name].numpy())).replace(" [PAD]", ""))
    The poet <extra_id_0> was the father of Ada Lovelace , born on 10 December 1815 . [SEP]
    <extra_id_0> Byron [SEP]
    """

    rates = staticmethod(salient_spans_rates)

    _config: SalientSpans

    def _prepare(self, tokenizer: Tokenizer) -> None:
        super()._prepare(tokenizer)
        self._is_salient = SalienceRules(tokenizer)

    def choose_noise(self, row: Row, text: Text, seed: tf.Tensor) -> Noise:
        """Returns a salient span of each document, or random spans of a document without one.

        Args:
            row: Tensors of one row, as `features.row_specs`.
            text: Tokens of the row, as `read_text` returns them.
            seed: Seed, int32 or int64 [2].
        """
        seeds = tf.random.split(seed, num=3, alg="philox")
        salient = self._is_salient(row, text)
        noise = choose_salient_span(text, salient, self._config.max_span, seeds[0])
        if not self._config.fallback:
            return noise
        has_none = tf.concat([count_by_document(salient, text) == 0, [False]], 0)
        counts = self.noise_counts(text)
        random = random_spans(text, counts, self.span_counts(text, counts), True, seeds[1:])
        falls_back = tf.gather(has_none, text.documents)
        return Noise(*(tf.where(falls_back, *pair) for pair in zip(random, noise)))


def choose_salient_span(text: Text, salient: tf.Tensor, max_span: int, seed: tf.Tensor) -> Noise:
    """Returns one run of salient tokens of each document, cut after `max_span` tokens.

    Args:
        salient: bool [raw_length], True on salient tokens.
        seed: Seed, int32 or int64 [2].
    """
    before = tf.concat([[False], salient[:-1]], 0) & (text.offsets > 0)
    is_start = salient & ~before
    one_each = tf.ones_like(text.lengths)
    chosen = choose_tokens(text, is_start, one_each, seed)
    runs = tf.cumsum(tf.cast(is_start, tf.int32))
    size = tf.size(runs) + 1
    is_chosen = tf.math.unsorted_segment_sum(tf.cast(chosen, tf.int32), runs, size) > 0
    places = tf.range(tf.size(runs))
    first = tf.math.unsorted_segment_min(tf.where(is_start, places, tf.size(runs)), runs, size)
    near = places - tf.gather(first, runs) < max_span
    return Noise(salient & tf.gather(is_chosen, runs) & near, chosen)
