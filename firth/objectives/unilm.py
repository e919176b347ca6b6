"""Masked LM under a mixture of attention masks (Dong et al. 2019, "UniLM", sections 2.1 and 2.3)."""

import numpy as np
import tensorflow as tf

from firth import features
from firth.objectives.layout import Frame, Layout, lay_out
from firth.objectives.masking import Choice, Corruption
from firth.objectives.pairs import true_pairs
from firth.objectives.runs import select_runs
from firth.recipes.masking import UniLM
from firth.recipes.tokenizer import Sequences


class UniLMObjective:
    """Hides tokens, and says which tokens each of them may see: a mask drawn anew for each row.

    Each chunk is split in two (see `pairs.split_chunks`): `[CLS] S1 [SEP] S2 [SEP]`. In `attention_order`,

    - `bidirectional` is zeros: each token sees all of its document;
    - `left_to_right` ascends: it sees itself and those before it;
    - `right_to_left` descends: it sees itself and those behind it;
    - `sequence_to_sequence` is zeros up to the first `[SEP]` and ascends from S2 on: all see the first
      segment, and the tokens of the second those before them.

    Tokens of both segments are predicted under each mask, as in the paper, `max(1, round(mask_rate x
    maskable tokens))` of a row: a share `ngram_rate` of the selections takes two or three neighbouring
    pieces, each equally often, the others one. What each is shown as is drawn for each piece.

    The paper has one segment only in rows with a one-directional mask, and a next sentence task in rows with
    the bidirectional one. Here all rows have two segments, and there is no such task.

    Args:
        config: The objective's part of a recipe.
        sequences: The recipe's sequences.
        tokenizer: Gives the special ids and the size of the vocabulary.

    Raises:
        ValueError: if `max_predictions` exceeds the length, or no piece is left to draw.

    Example: a row that drew the mask of sequence to sequence.

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

    def __init__(self, config: UniLM, sequences: Sequences, tokenizer):
        self._config = config
        self._sequences = sequences
        self._choice = Choice(config.mask_rate, config.max_predictions, sequences.length, tokenizer)
        self._corruption = Corruption(config, tokenizer)
        self._lengths = np.array([1 - config.ngram_rate, config.ngram_rate / 2, config.ngram_rate / 2])
        self._pad_id = tokenizer.pad_id
        self._frame = Frame((tokenizer.cls_id,), (tokenizer.sep_id,), (tokenizer.sep_id,))

    @property
    def raw_length(self) -> int:
        """Tokens of a row as the corpus writes it: the length less the special tokens of one document."""
        return self._config.raw_length(self._sequences)

    def specs(self) -> dict[str, features.Spec]:
        """Returns the specs of what a call gives, for one example."""
        return {
            **features.encoder_specs(self._sequences.length, order=True),
            **features.selection_specs(self._config.max_predictions),
        }

    def __call__(self, row, partner, seed) -> dict[str, tf.Tensor]:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            partner: Not used.
            seed: int32 or int64 [2].
        """
        del partner
        seeds = tf.random.split(seed, num=6, alg="philox")
        pairs = true_pairs(row, seeds[0])
        layout = lay_out(row, None, pairs, self._sequences.length, self._frame, self._pad_id)
        maskable, budget = self._choice.maskable(layout)
        selected = select_runs(maskable, None, self._lengths, budget, seeds[1:3])
        chosen = self._choice.predict(layout.token_ids, selected)
        return {
            **layout.encoder_features(),
            features.TOKEN_IDS: self._corruption.corrupt(layout.token_ids, chosen, seeds[3:5]),
            features.ATTENTION_ORDER: self._draw_order(layout, seeds[5]),
            **chosen.features(),
        }

    def _draw_order(self, layout: Layout, seed):
        """Returns int32 [length], of one of the masks."""
        position = layout.position_ids
        orders = {
            "bidirectional": tf.zeros_like(position),
            "left_to_right": position,
            "right_to_left": tf.where(layout.document_ids > 0, self._sequences.length - position, 0),
            "sequence_to_sequence": position * layout.segment_ids,
        }
        rates = self._config.mixture
        bounds = tf.constant(np.cumsum(list(rates.values()))[:-1], tf.float32)
        draw = tf.random.stateless_uniform([], seed, alg="philox")
        return tf.gather(
            tf.stack([orders[name] for name in rates]), tf.searchsorted(bounds, [draw], side="right")[0]
        )
