"""Causal LM (Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training", 3.1)."""

import tensorflow as tf

from firth import features
from firth.objectives.arrangement import decoder_features
from firth.objectives.documents import ordinary_table, read_text, write_parts
from firth.recipes.language_models import CausalLM
from firth.recipes.tokenizer import Sequences


class CausalLMObjective:
    """Makes Features of one row in which each token of a document predicts the next one.

    A document is `[CLS] x1 ... xn`, its labels are `x1 ... xn [SEP]`: that it begins and that it ends is a part
    of it. Positions start again with each document of a row. Nothing is random.

    Args:
        config: The objective's part of a recipe.
        sequences: The recipe's sequences.
        tokenizer: Gives the special ids.

    Example: two documents of three and two tokens in a row of eight.

    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "thank you for your week".split()
    >>> tokenizer = WordPieceTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])
    >>> objective = CausalLMObjective(CausalLM(), Sequences(length=8, max_documents=2), tokenizer)
    >>> row = {"tokens": tf.constant([5, 6, 7, 8, 9, 0, 0]), "chunk_lengths": tf.constant([3, 2])}
    >>> made = objective(row, row, seed=[0, 0])
    >>> for name in ("token_ids", "label_ids"):
    ...     print(f"{name:9}", *(tokenizer.id_to_token(int(id)) for id in made[name]))
    token_ids [CLS] thank you for [CLS] your week [PAD]
    label_ids thank you for [SEP] your week [SEP] [PAD]
    """

    def __init__(self, config: CausalLM, sequences: Sequences, tokenizer):
        self._config = config
        self._sequences = sequences
        self._cls_id, self._sep_id = tokenizer.cls_id, tokenizer.sep_id
        self._ordinary = ordinary_table(tokenizer)

    @property
    def raw_length(self) -> int:
        """Tokens of a row as the corpus writes it: the length less one `[CLS]`."""
        return self._config.raw_length(self._sequences)

    def specs(self) -> dict[str, features.Spec]:
        """Returns the specs of what a call gives, for one example."""
        length = self._sequences.length
        return {**features.encoder_specs(length, segments=False), **features.label_specs(length)}

    def __call__(self, row, partner, seed) -> dict[str, tf.Tensor]:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            partner: Not used.
            seed: Not used.
        """
        del partner, seed
        text = read_text(row, self._ordinary)
        exists = tf.cast(text.lengths > 0, tf.int32)
        count = exists.shape[0]
        starts = tf.cumsum(exists, exclusive=True)
        inputs = write_parts(count, exists, [(exists > 0, starts, tf.fill([count], self._cls_id))])
        room = self._sequences.length
        lengths = text.lengths + exists
        ends = tf.cumsum(lengths)
        places = tf.range(tf.size(text.tokens)) + tf.minimum(text.documents, count)
        targets = write_parts(
            room,
            lengths,
            [
                (text.is_token, places, text.tokens),
                (exists > 0, ends - 1, tf.fill([count], self._sep_id)),
            ],
        )
        made = decoder_features(inputs, targets, tf.cast(exists, tf.float32), room)
        del made[features.ATTENTION_ORDER]
        return made
