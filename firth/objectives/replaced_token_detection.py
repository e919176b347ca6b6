"""The data side of replaced token detection (Clark et al. 2020, "ELECTRA", section 2)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import tensorflow as tf

from firth import features
from firth.objectives.rates.selection_rates import replaced_token_detection_rates
from firth.objectives.transforms.layout import Frame, lay_out
from firth.objectives.transforms.masking import Choice, Corruption
from firth.objectives.transforms.pairs import single_segments
from firth.objectives.transforms.selection import select_pieces
from firth.recipes.objectives.masking import ReplacedTokenDetection
from firth.recipes.tokenizers.tokenizer import Sequences

if TYPE_CHECKING:
    from firth.tokenizers.piece_tokenizer import PieceTokenizer


class ReplacedTokenDetectionObjective:
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

    def __init__(
        self, config: ReplacedTokenDetection, sequences: Sequences, tokenizer: "PieceTokenizer"
    ) -> None:
        self._config = config
        self._sequences = sequences
        self._choice = Choice(config.mask_rate, config.max_predictions, sequences.length, tokenizer)
        self._corruption = Corruption(config, tokenizer)
        self._pad_id = tokenizer.pad_id
        self._frame = Frame(before=(tokenizer.cls_id,), after=(tokenizer.sep_id,))

    @property
    def raw_length(self) -> int:
        """Tokens of a row as the corpus writes it: the length less the special tokens of one document."""
        return self._config.raw_length(self._sequences)

    def specs(self) -> dict[str, features.Spec]:
        """Returns the specs of what a call gives, for one example."""
        return {
            **features.encoder_specs(self._sequences.length),
            **features.selection_specs(self._config.max_predictions),
        }

    def __call__(
        self, row: Mapping[str, tf.Tensor], negative: Mapping[str, tf.Tensor] | None, seed: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Not used.
            seed: int32 or int64 [2].
        """
        del negative
        seeds = tf.random.split(seed, num=3, alg="philox")
        layout = lay_out(row, None, single_segments(row), self._sequences.length, self._frame, self._pad_id)
        maskable, budget = self._choice.maskable(layout)
        chosen = self._choice.predict(layout.token_ids, select_pieces(maskable, budget, seeds[0]))
        return {
            **layout.encoder_features(),
            features.TOKEN_IDS: self._corruption.corrupt(layout.token_ids, chosen, seeds[1:]),
            **chosen.features(),
        }
