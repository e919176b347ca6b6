"""The tokenizer a recipe trains, and how its pieces become sequences."""

from typing import Literal

import pydantic

from firth.recipes.base import Config


class WordPieceTokenizer(Config):
    """WordPiece with BERT's normalisation (Devlin et al. 2018, section 3).

    Attributes:
        vocabulary_size: Pieces asked for, the five special ones included. A small corpus may yield fewer;
            the model keeps this many rows.
        lowercase: Lower-case and strip accents, as the uncased models do.
        min_frequency: A pair of pieces is merged if it occurs at least this often.
        max_word_characters: A longer word becomes `[UNK]`.
    """

    kind: Literal["wordpiece"] = "wordpiece"
    vocabulary_size: int = pydantic.Field(default=30_522, ge=16)
    lowercase: bool = True
    min_frequency: int = pydantic.Field(default=2, ge=1)
    max_word_characters: int = pydantic.Field(default=100, ge=8)


class Sequences(Config):
    """How tokenized documents fill rows of fixed length.

    Attributes:
        length: Tokens of a row, special tokens and padding included.
        max_documents: At most so many documents (or parts of one) share a row.
        shards: Documents are packed in this many groups by a hash of their id, so that the result does not
            depend on the number of workers.
    """

    length: int = pydantic.Field(default=128, ge=8)
    max_documents: int = pydantic.Field(default=8, ge=1)
    shards: int = pydantic.Field(default=16, ge=1)
