"""WordPiece with BERT's normalisation, in the TensorFlow graph."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from firth.tokenizers.graph.characters import table_digest
from firth.tokenizers.graph.vocabulary import SUFFIX_MARK
from firth.tokenizers.graph.word_bounds import WordBounds
from firth.tokenizers.graph.word_piece_kernel import WordPieceKernel
from firth.tokenizers.kind import WordCounter
from firth.tokenizers.piece_tokenizer import PieceTokenizer, Specials, digest_of
from firth.tokenizers.training.counting import count_words
from firth.tokenizers.training.word_piece import train_wordpiece

# A special piece typed in text is one word of this many bytes at most while it goes through the kernel.
_MIN_WORD_CHARACTERS = 8


class WordPieceTokenizer(PieceTokenizer):
    """Text to ids of word pieces and back (Devlin et al. 2018, section 3; Schuster and Nakajima 2012).

    Text is cleaned of control characters, lower-cased and stripped of accents (if `lowercase`), split at
    spaces, around punctuation and around CJK ideographs, and each word is covered from the left by the
    longest pieces there are (Song et al. 2021, "Fast WordPiece Tokenization", which is the kernel below). A
    word that cannot be covered, or that is longer than `max_word_characters` after normalisation, becomes
    `[UNK]`.

    Ids equal those of Hugging Face's `BertTokenizerFast` with the same vocabulary, for every character of
    Unicode. A special piece typed in text, such as `[MASK]`, is ordinary text, three words, unless it is
    asked for. Bytes that are not valid UTF-8 are dropped, so the ids are those of
    `text.decode("utf-8", errors="ignore")`. One difference is known: two spacing marks that both have a
    combining class, in an order that is not canonical (a Balinese virama after a Hangul tone mark), are not
    put in order when lower-casing. No orthography has that.

    In decoded text, words have one space between them, and pieces with `##` are joined to the piece before.
    Special pieces are written as words.

    Args:
        vocabulary: Pieces in the order of their ids, as for `PieceTokenizer`; pieces inside a word start
            with `##`.
        lowercase: True to lower-case and strip accents.
        max_word_characters: Most characters of a word, at least 8; a longer word becomes `[UNK]`.
        normalization: Steps before all else, as for `PieceTokenizer`.
        specials: Special pieces by their roles, as for `PieceTokenizer`; it needs one for unknown text.
        **kwargs: Arguments of `keras_hub.tokenizers.Tokenizer`, such as `name`.

    Raises:
        ValueError: for a vocabulary with duplicates, without special pieces, or with sentinels elsewhere.
        MissingPieceError: if there is no piece for unknown text.

    Example:

    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "qu", "##ick", "fox", "."]
    >>> tokenizer = WordPieceTokenizer(pieces)
    >>> tokenizer.tokenize(["The quick [MASK].", "Zoë"], specials=["[MASK]"]).to_list()
    [[5, 6, 7, 4, 9], [1]]
    >>> tokenizer.detokenize([[5, 6, 7, 4, 9, 0]]).numpy()[0]
    b'the quick [MASK] .'
    """

    kind = "wordpiece"

    def __init__(
        self,
        vocabulary: Sequence[str],
        lowercase: bool = True,
        max_word_characters: int = 100,
        normalization: Sequence[Sequence[str]] = (),
        specials: Specials = None,
        **kwargs: Any,
    ) -> None:
        if max_word_characters < _MIN_WORD_CHARACTERS:
            raise ValueError(f"max_word_characters: {max_word_characters} is below {_MIN_WORD_CHARACTERS}")
        super().__init__(vocabulary, normalization, specials, **kwargs)
        self.lowercase = lowercase
        self.max_word_characters = max_word_characters
        self.kernel = WordPieceKernel(self._vocabulary, lowercase, max_word_characters)
        self.word_bounds = WordBounds.of_starts(
            np.array([not piece.startswith(SUFFIX_MARK) for piece in vocabulary])
        )
        self._keep_rendered([_render(piece) for piece in vocabulary])

    @classmethod
    def word_counter(cls, config: Any) -> WordCounter:  # noqa: D102
        return functools.partial(count_words, lowercase=config.lowercase, specials=config.special_texts)

    @classmethod
    def train(  # noqa: D102
        cls, word_counts: Mapping[str, int], config: Any, normalization: Sequence[Sequence[str]] = ()
    ) -> "WordPieceTokenizer":
        size = config.vocabulary_size
        vocabulary = train_wordpiece(word_counts, size, config.min_frequency, sentinels=config.sentinels)
        settings = (config.lowercase, config.max_word_characters, normalization)
        return cls(vocabulary, *settings, special_texts=config.special_texts)

    @staticmethod
    def _bytes_of(piece: str) -> bytes:
        return piece.removeprefix(SUFFIX_MARK).encode()

    @property
    def recipe_settings(self) -> dict[str, Any]:
        """The settings that the recipe of such a tokenizer has too."""
        return {"lowercase": self.lowercase, "max_word_characters": self.max_word_characters}

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments that make this tokenizer again, next to its vocabulary."""
        return {**self.recipe_settings, **super().settings}

    @property
    def digest(self) -> str:
        """SHA-256 over vocabulary, settings and the normalisation table, in hex."""
        return digest_of(
            self.kind,
            self.get_vocabulary(),
            self.lowercase,
            self.max_word_characters,
            table_digest("characters"),
            *self._digested,
        )


def _render(piece: str) -> bytes:
    return (piece.removeprefix(SUFFIX_MARK) if piece.startswith(SUFFIX_MARK) else f" {piece}").encode()
