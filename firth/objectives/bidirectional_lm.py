"""Bidirectional LM over words (Peters et al. 2018, "Deep contextualized word representations", 3.1)."""

import numpy as np
import tensorflow as tf

from firth import features
from firth.objectives.documents import find_parts, ordinary_table, read_text, write_parts
from firth.recipes.language_models import BidirectionalLM
from firth.recipes.tokenizer import Sequences


class BidirectionalLMObjective:
    """Makes Features of one row in which each word predicts the one behind it and the one before it.

    A document is `<S> x1 ... xn </S>`. Words are read by their characters and predicted by their ids: one
    that is not in the vocabulary is predicted as `<UNK>`, and read as it is spelled. Nothing is random.

    Args:
        config: The objective's part of a recipe.
        sequences: The recipe's sequences.
        tokenizer: A `firth.tokenizers.WordTokenizer`.

    Example:

    >>> from firth.tokenizers import WordTokenizer
    >>> tokenizer = WordTokenizer(["<S>", "</S>", "<UNK>", "thank", "you"], max_characters=8)
    >>> objective = BidirectionalLMObjective(
    ...     BidirectionalLM(), Sequences(length=8, max_documents=2), tokenizer
    ... )
    >>> row = {
    ...     "tokens": tf.constant([3, 4, 3, 0, 0, 0]),
    ...     "chunk_lengths": tf.constant([2, 1]),
    ...     "characters": tokenizer.characters(["thank", "you", "thank", "", "", ""]),
    ... }
    >>> made = objective(row, row, seed=[0, 0])
    >>> shown = {"reads": "token_ids", "forward": "label_ids", "backward": "backward_label_ids"}
    >>> for title, name in shown.items():
    ...     print(f"{title:8}", *(f"{tokenizer.id_to_token(int(id)):5}" for id in made[name]))
    reads    <S>   thank you   </S>  <S>   thank </S>  <S>
    forward  thank you   </S>  <S>   thank </S>  <S>   <S>
    backward <S>   <S>   thank you   <S>   <S>   thank <S>
    >>> made["label_weights"].numpy().astype(int).tolist()
    [1, 1, 1, 0, 1, 1, 0, 0]
    """

    def __init__(self, config: BidirectionalLM, sequences: Sequences, tokenizer):
        self._config = config
        self._sequences = sequences
        self._bos_id, self._eos_id = tokenizer.bos_id, tokenizer.eos_id
        self._marks = np.stack([tokenizer.bos_characters, tokenizer.eos_characters])
        self._ordinary = ordinary_table(tokenizer)

    @property
    def raw_length(self) -> int:
        """Words of a row as the corpus writes it: the length less `<S>` and `</S>`."""
        return self._config.raw_length(self._sequences)

    def specs(self) -> dict[str, features.Spec]:
        """Returns the specs of what a call gives, for one example."""
        length = self._sequences.length
        ids, weights = features.Spec("int32", (length,)), features.Spec("float32", (length,))
        return {
            features.TOKEN_IDS: ids,
            features.DOCUMENT_IDS: ids,
            features.CHARACTERS: features.Spec("int32", (length, self._marks.shape[1])),
            **features.label_specs(length),
            features.BACKWARD_LABEL_IDS: ids,
            features.BACKWARD_LABEL_WEIGHTS: weights,
        }

    def __call__(self, row, partner, seed) -> dict[str, tf.Tensor]:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`, with characters.
            partner: Not used.
            seed: Not used.
        """
        del partner, seed
        text, length = read_text(row, self._ordinary), self._sequences.length
        count, exists = text.lengths.shape[0], text.lengths > 0
        lengths = tf.where(exists, text.lengths + 2, 0)
        ends = tf.cumsum(lengths)
        raw = text.tokens.shape[0]
        word_places = tf.range(raw) + 2 * text.documents + 1
        # What is written is where each place's word stands among the row's words and the two marks.
        sources = write_parts(
            length,
            lengths,
            [
                (text.is_token, word_places, tf.range(raw)),
                (exists, ends - lengths, tf.fill([count], raw)),
                (exists, ends - 1, tf.fill([count], raw + 1)),
            ],
            fill=raw + 2,
        ).ids
        return self._features(row, text, sources, lengths)

    def _features(self, row, text, sources, lengths):
        table = tf.concat([text.tokens, [self._bos_id, self._eos_id, 0]], 0)
        width = self._marks.shape[1]
        spelled = tf.concat([row[features.CHARACTERS], self._marks, tf.zeros([1, width], tf.int32)], 0)
        tokens = tf.gather(table, sources)
        documents, _ = find_parts(lengths, self._sequences.length)
        ids = tf.where(documents < tf.size(lengths), documents + 1, 0)
        follows = tf.cast((ids == tf.roll(ids, -1, 0)) & (ids > 0), tf.float32)
        follows = tf.concat([follows[:-1], [0.0]], 0)
        precedes = tf.roll(follows, 1, 0)
        zero = tf.zeros_like(tokens)
        return {
            features.TOKEN_IDS: tokens,
            features.DOCUMENT_IDS: ids,
            features.CHARACTERS: tf.gather(spelled, sources),
            features.LABEL_IDS: tf.where(follows > 0, tf.roll(tokens, -1, 0), zero),
            features.LABEL_WEIGHTS: follows,
            features.BACKWARD_LABEL_IDS: tf.where(precedes > 0, tf.roll(tokens, 1, 0), zero),
            features.BACKWARD_LABEL_WEIGHTS: precedes,
        }
