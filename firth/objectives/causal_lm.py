"""Causal language modelling (Radford et al. 2018, "GPT", section 3.1)."""

import tensorflow as tf

from firth import features
from firth.objectives.base import Features, ObjectiveFunction, Row, Specs, Tokenizer
from firth.objectives.rates.label_rates import causal_lm_rates
from firth.objectives.transforms.documents import next_tokens
from firth.objectives.transforms.layout import Frame


class CausalLMObjective(ObjectiveFunction):
    """Predicts each token of a document from those before it.

    A document is `[CLS] x1 ... xn`, and its labels are `x1 ... xn [SEP]`: its beginning and its end are
    learned as well. Where documents begin with no special token, the labels are `x2 ... xn [SEP]`. Documents
    of a row do not see one another, and positions start again with each.
    Nothing is random.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids.

    Example: two documents in a row, with a place left.

    >>> from firth.recipes import CausalLM, Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "Thank you for inviting me . It was fun .".split()
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(words)]
    >>> tokenizer = WordPieceTokenizer(pieces, lowercase=False)
    >>> objective = CausalLMObjective(CausalLM(), Sequences(length=13, max_documents=2), tokenizer)
    >>> row = {
    ...     "tokens": tokenizer.tokenize(" ".join(words)),
    ...     "word_starts": tf.ones(10, tf.int32),
    ...     "chunk_lengths": tf.constant([6, 4]),
    ... }
    >>> made = objective(row, None, seed=[1, 2])
    >>> for name in ("token_ids", "label_ids"):
    ...     print(" ".join(map(tokenizer.id_to_token, made[name].numpy())))
    [CLS] Thank you for inviting me . [CLS] It was fun . [PAD]
    Thank you for inviting me . [SEP] It was fun . [SEP] [PAD]
    >>> for name in ("position_ids", "document_ids", "label_weights"):
    ...     print(f"{name:13}", *made[name].numpy().astype(int))
    position_ids  0 1 2 3 4 5 6 0 1 2 3 4 0
    document_ids  1 1 1 1 1 1 1 2 2 2 2 2 0
    label_weights 1 1 1 1 1 1 1 1 1 1 1 1 0
    """

    rates = staticmethod(causal_lm_rates)

    def _prepare(self, tokenizer: Tokenizer) -> None:
        self._end_id = tokenizer.sep_id
        roles = self._config.text_frame.before
        self._frame = Frame(before=tuple(getattr(tokenizer, f"{role}_id") for role in roles))

    def specs(self) -> Specs:
        """Returns the specs of the features of one example."""
        length = self._sequences.length
        return {**features.encoder_specs(length, segments=False), **features.label_specs(length)}

    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative, seed: Not used.
        """
        layout = self._lay_out_chunks(row)
        is_used = layout.document_ids > 0
        following, exists = next_tokens(layout.token_ids, layout.document_ids)
        return {
            **layout.encoder_features(segments=False),
            features.LABEL_IDS: tf.where(is_used, tf.where(exists, following, self._end_id), 0),
            features.LABEL_WEIGHTS: tf.cast(is_used, tf.float32),
        }
