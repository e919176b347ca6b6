"""The data side of replaced token detection (Clark et al. 2020, "ELECTRA", section 2)."""

import tensorflow as tf

from firth.objectives.base import Features, MaskingObjective, Row
from firth.objectives.rates.selection_rates import replaced_token_detection_rates
from firth.objectives.transforms.masking import select_pieces


class ReplacedTokenDetectionObjective(MaskingObjective):
    """Hides tokens from the generator; what it puts in their place is for the discriminator to find.

    Of each row `max(1, round(mask_rate x maskable tokens))` tokens are predicted, as in masked LM. As in the
    reference code, 85% of them become `[MASK]` and the others stay, none becomes a random piece. The samples
    of the generator, and the discriminator's labels, are made in the model from these features: a sample
    that happens to be the original counts as original.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids and the size of the vocabulary.

    Raises:
        ValueError: if `max_predictions` exceeds the length.

    Example: four of eleven tokens; `you` stays, and is predicted as well.

    >>> from firth.recipes import ReplacedTokenDetection, Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "Thank you for inviting me to your party last week .".split()
    >>> tokenizer = WordPieceTokenizer(
    ...     ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words], lowercase=False
    ... )
    >>> config = ReplacedTokenDetection(mask_rate=0.35, max_predictions=5)
    >>> objective = ReplacedTokenDetectionObjective(config, Sequences(length=13), tokenizer)
    >>> row = {
    ...     "tokens": tokenizer.tokenize(" ".join(words)),
    ...     "word_starts": tf.ones(11, tf.int32),
    ...     "chunk_lengths": tf.constant([11]),
    ... }
    >>> made = objective(row, None, seed=[1, 2])
    >>> for name in ("token_ids", "masked_labels"):
    ...     print(" ".join(map(tokenizer.id_to_token, made[name].numpy())))
    [CLS] Thank you for inviting me [MASK] [MASK] [MASK] last week . [SEP]
    you to your party [PAD]
    >>> for name in ("masked_positions", "masked_weights"):
    ...     print(made[name].numpy())
    [2 6 7 8 0]
    [1. 1. 1. 1. 0.]
    """

    rates = staticmethod(replaced_token_detection_rates)

    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Not used.
            seed: int32 or int64 [2].
        """
        seeds = tf.random.split(seed, num=3, alg="philox")
        layout = self._lay_out_chunks(row)
        maskable, budget = self._maskable(layout, row)
        chosen = self._choice.predict(layout.token_ids, select_pieces(maskable, budget, seeds[0]))
        return self._masked(layout, chosen, seeds[1:])
