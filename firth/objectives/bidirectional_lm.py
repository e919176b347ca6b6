"""Language models in both directions, over words with their characters (Peters et al. 2018, "ELMo")."""

from typing import Any

import tensorflow as tf

from firth import features
from firth.objectives.base import Features, ObjectiveFunction, Row, Specs
from firth.objectives.rates.label_rates import bidirectional_lm_rates
from firth.objectives.transforms.documents import next_tokens, previous_tokens
from firth.objectives.transforms.layout import Frame, spell


class BidirectionalLMObjective(ObjectiveFunction):
    """Predicts each word from those before it, and from those after it (section 3.1).

    A document is `<S> x1 ... xn </S>`. The forward labels are `x1 ... xn </S>` and predict nothing from
    `</S>`; the backward labels are `<S> x1 ... xn` and predict nothing from `<S>`. A word outside the
    vocabulary is read by its characters and predicted as `<UNK>`, with weight 1, as in the reference code.
    Nothing is random.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives `<S>` and `</S>` and their characters.

    Example: `inviting` is not in the vocabulary. The characters 259 and 260 are around each word, 257 is
    `<S>`, and 261 fills the rest of a word.

    >>> from firth.recipes import BidirectionalLM, Sequences
    >>> from firth.tokenizers.word import WordTokenizer
    >>> vocabulary = ["<S>", "</S>", "<UNK>", "Thank", "you", "for"]
    >>> tokenizer = WordTokenizer(vocabulary, max_characters=8)
    >>> objective = BidirectionalLMObjective(BidirectionalLM(), Sequences(length=8), tokenizer)
    >>> words = tokenizer.split(["Thank you for inviting"]).flat_values
    >>> row = {
    ...     "tokens": tokenizer.word_ids(words),
    ...     "word_starts": tf.ones(4, tf.int32),
    ...     "chunk_lengths": tf.constant([4]),
    ...     "characters": tokenizer.characters(words),
    ... }
    >>> made = objective(row, None, seed=[1, 2])
    >>> for ids, weights in (
    ...     ("token_ids", "document_ids"),
    ...     ("label_ids", "label_weights"),
    ...     ("backward_label_ids", "backward_label_weights"),
    ... ):
    ...     words = map(tokenizer.id_to_token, made[ids].numpy())
    ...     print(*(word if weight else "-" for word, weight in zip(words, made[weights].numpy())))
    <S> Thank you for <UNK> </S> - -
    Thank you for <UNK> </S> - - -
    - <S> Thank you for <UNK> - -
    >>> print(made["characters"].numpy()[[0, 1, 4, 7]])
    [[259 257 260 261 261 261 261 261]
     [259  85 105  98 111 108 260 261]
     [259 106 111 119 106 117 106 260]
     [  0   0   0   0   0   0   0   0]]
    """

    rates = staticmethod(bidirectional_lm_rates)

    def _prepare(self, tokenizer: Any) -> None:
        self._frame = Frame(before=(tokenizer.bos_id,), after=(tokenizer.eos_id,))
        self._tokenizer = tokenizer

    def specs(self) -> Specs:
        """Returns the specs of the features of one example."""
        length = self._sequences.length
        ids, weights = features.Spec("int32", (length,)), features.Spec("float32", (length,))
        return {
            features.TOKEN_IDS: ids,
            features.DOCUMENT_IDS: ids,
            features.CHARACTERS: features.Spec("int32", (length, self._tokenizer.max_characters)),
            features.LABEL_IDS: ids,
            features.LABEL_WEIGHTS: weights,
            features.BACKWARD_LABEL_IDS: ids,
            features.BACKWARD_LABEL_WEIGHTS: weights,
        }

    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`, characters among them.
            negative, seed: Not used.
        """
        layout = self._lay_out_chunks(row)
        tokens, documents = layout.token_ids, layout.document_ids
        following, has_next = next_tokens(tokens, documents)
        preceding, has_previous = previous_tokens(tokens, documents)
        return {
            features.TOKEN_IDS: tokens,
            features.DOCUMENT_IDS: documents,
            features.CHARACTERS: spell(layout, row, self._tokenizer),
            features.LABEL_IDS: tf.where(has_next, following, 0),
            features.LABEL_WEIGHTS: tf.cast(has_next, tf.float32),
            features.BACKWARD_LABEL_IDS: tf.where(has_previous, preceding, 0),
            features.BACKWARD_LABEL_WEIGHTS: tf.cast(has_previous, tf.float32),
        }
