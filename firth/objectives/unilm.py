"""Masked LM under a mixture of attention masks (Dong et al. 2019, "UniLM", sections 2.1 and 2.3)."""

import numpy as np
import tensorflow as tf

from firth import features
from firth.objectives.base import Features, MaskingObjective, Row, Specs, Tokenizer
from firth.objectives.rates.selection_rates import unilm_rates
from firth.objectives.transforms.layout import Frame, Layout, lay_out
from firth.objectives.transforms.next_sentences import choose_pairs
from firth.objectives.transforms.pairs import Pairs, single_segments, true_pairs
from firth.objectives.transforms.runs import select_runs


class UniLMObjective(MaskingObjective):
    """Hides tokens, and draws an attention mask for each row.

    Each chunk is split in two (see `pairs.split_chunks`): `[CLS] S1 [SEP] S2 [SEP]`. In `attention_order`,

    - `bidirectional` is zeros: each token sees all of its document;
    - `left_to_right` ascends: it sees itself and those before it;
    - `right_to_left` descends: it sees itself and those after it;
    - `sequence_to_sequence` is zeros up to the first `[SEP]` and ascends from S2 on: all see the first
      segment, and the tokens of the second those before them.

    Tokens of both segments are predicted under each mask, as in the paper, `max(1, round(mask_rate x
    maskable tokens))` of a row: a share `ngram_rate` of the selections takes two or three neighbouring
    pieces, each equally often, the others one. The replacement of each piece is drawn on its own.

    With `single_segments` each chunk is `[CLS] S1 [SEP]` in a row that drew a one-directional mask.
    With `next_sentence` a row that drew the bidirectional one has the second segments and labels that
    `next_sentences.choose_pairs` gives it; the labels of all others have no weight.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids and the size of the vocabulary.

    Raises:
        ValueError: if `max_predictions` exceeds the length, or no piece is left to draw.

    Example: a row that drew the mask of sequence to sequence.

    >>> from firth.recipes import Sequences, UniLM
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "Thank you for inviting me to your party last week .".split()
    >>> tokenizer = WordPieceTokenizer(
    ...     ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words], lowercase=False
    ... )
    >>> config = UniLM(mask_rate=0.35, max_predictions=5)
    >>> objective = UniLMObjective(config, Sequences(length=14), tokenizer)
    >>> row = {
    ...     "tokens": tokenizer.tokenize(" ".join(words)),
    ...     "word_starts": tf.ones(11, tf.int32),
    ...     "sentence_starts": tf.one_hot(0, 11),
    ...     "chunk_lengths": tf.constant([11]),
    ... }
    >>> made = objective(row, None, seed=[1, 2])
    >>> for name in ("token_ids", "masked_labels"):
    ...     print(" ".join(map(tokenizer.id_to_token, made[name].numpy())))
    [CLS] Thank you [MASK] [MASK] me [SEP] [MASK] your party last week . [SEP]
    for inviting to your [PAD]
    >>> for name in ("attention_order", "masked_positions"):
    ...     print(f"{name:16}", *made[name].numpy())
    attention_order  0 0 0 0 0 0 0 7 8 9 10 11 12 13
    masked_positions 3 4 7 8 0
    """

    rates = staticmethod(unilm_rates)

    def _prepare(self, tokenizer: Tokenizer) -> None:
        super()._prepare(tokenizer)
        rate = self._config.ngram_rate
        self._lengths = np.array([1 - rate, rate / 2, rate / 2])
        self._frame = Frame((tokenizer.cls_id,), (tokenizer.sep_id,), (tokenizer.sep_id,))
        self._single_frame = Frame((tokenizer.cls_id,), (), (tokenizer.sep_id,))

    def specs(self) -> Specs:
        """Returns the specs of the features of one example."""
        length, documents = self._sequences.length, self._sequences.max_documents
        pairs = features.pair_specs(documents, "next_sentence") if self._config.next_sentence else {}
        return {**super().specs(), **features.encoder_specs(length, order=True), **pairs}

    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Row that random segments come from. Not used without next sentence prediction.
            seed: int32 or int64 [2].
        """
        seeds = tf.random.split(seed, num=9, alg="philox")
        kind = self._draw_kind(seeds[5])
        pairs = self._pairs(row, negative, kind, tf.gather(seeds, [0, 6, 7, 8]))
        layout = self._lay_out(row, negative, pairs, kind)
        maskable, budget = self._maskable(layout, row)
        selected = select_runs(maskable, None, self._lengths, budget, seeds[1:3])
        chosen = self._choice.predict(layout.token_ids, selected)
        return {
            **self._masked(layout, chosen, seeds[3:5]),
            features.ATTENTION_ORDER: self._order(layout, kind),
            **(self._pair_features("next_sentence", pairs, layout) if self._config.next_sentence else {}),
        }

    def _draw_kind(self, seed: tf.Tensor) -> tf.Tensor:
        """Returns the number of a row's mask in the mixture, int32 []."""
        bounds = tf.constant(np.cumsum(list(self._config.mixture.values()))[:-1], tf.float32)
        draw = tf.random.stateless_uniform([], seed, alg="philox")
        return tf.searchsorted(bounds, [draw], side="right")[0]

    def _is_any(self, kind: tf.Tensor, *names: str) -> tf.Tensor:
        """Returns a bool [], True if the row's mask has one of the names."""
        return tf.reduce_any([kind == list(self._config.mixture).index(name) for name in names])

    def _pairs(
        self,
        row: Row,
        negative: Row,
        kind: tf.Tensor,
        seeds: tf.Tensor,
    ) -> Pairs:
        true = true_pairs(row, seeds[0])
        if not self._config.next_sentence:
            return true
        chosen = choose_pairs(row, negative, self._config.random_next_rate, seeds)
        is_learned = self._is_any(kind, "bidirectional")
        pairs = Pairs(*(tf.where(is_learned, *each) for each in zip(chosen, true)))
        return pairs._replace(is_pair=pairs.is_pair & is_learned)

    def _lay_out(
        self,
        row: Row,
        negative: Row,
        pairs: Pairs,
        kind: tf.Tensor,
    ) -> Layout:
        foreign = negative if self._config.next_sentence else None
        size = (self._sequences.length,)
        layout = lay_out(row, foreign, pairs, *size, self._frame, self._pad_id)
        if not self._config.single_segments:
            return layout
        single = lay_out(row, foreign, single_segments(row), *size, self._single_frame, self._pad_id)
        is_single = self._is_any(kind, "left_to_right", "right_to_left")
        return Layout(*(tf.where(is_single, *each) for each in zip(single, layout)))

    def _order(self, layout: Layout, kind: tf.Tensor) -> tf.Tensor:
        """Returns the attention order of the row's mask, int32 [length]."""
        position = layout.position_ids
        orders = {
            "bidirectional": tf.zeros_like(position),
            "left_to_right": position,
            "right_to_left": tf.where(layout.document_ids > 0, self._sequences.length - position, 0),
            "sequence_to_sequence": position * layout.segment_ids,
        }
        return tf.gather(tf.stack([orders[name] for name in self._config.mixture]), kind)
