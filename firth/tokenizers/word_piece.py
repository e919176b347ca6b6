"""WordPiece with BERT's normalisation, on tensorflow-text's `FastWordpieceTokenizer`."""

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph.characters import is_word, table_digest
from firth.tokenizers.graph.normalizer import SPECIAL_MARK, build_normalizer_model, stand_ins
from firth.tokenizers.graph.special_marks import SpecialMarks
from firth.tokenizers.graph.vocabulary import SUFFIX_MARK, Vocabulary
from firth.tokenizers.graph.word_bounds import WordBounds
from firth.tokenizers.kind import WordCounter
from firth.tokenizers.piece_tokenizer import PieceTokenizer, Specials, digest_of
from firth.tokenizers.training.counting import count_words
from firth.tokenizers.training.word_piece import train_wordpiece

# A special piece typed in text is one word of this many bytes at most while it goes through the kernel.
_MIN_WORD_CHARACTERS = 8
# The kernel limits words in bytes; a character has at most four.
_BYTES_OF_CHARACTER = 4


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


def kernel_piece(piece: str, index: int, lowercase: bool) -> str:
    """Returns a piece of the vocabulary as the kernel's own vocabulary writes it.

    Pieces that no normalised text can hold (`The` when lower-casing, `a.b`, `##.`) become words that match
    nothing: the reference never yields them, while the kernel might.

    Example:

    >>> kernel_piece("##ing", 7, True), kernel_piece("a.b", 8, True).isascii()
    ('##ing', False)
    """
    body = piece.removeprefix(SUFFIX_MARK)
    prefix = piece[: len(piece) - len(body)]
    inside_word = is_word(f"{prefix and 'x'}{body}", lowercase)
    if not body or not inside_word:
        return f"{SPECIAL_MARK}{index}"
    return prefix + body.translate(stand_ins())


class WordPieceKernel(tf.Module):
    """Raw text to ids, in a TensorFlow graph that needs nothing but its own constants.

    Words that are too long are found in two steps, since the kernel counts bytes and the limit is in
    characters: its limit is set to as many bytes, which is exact for ASCII, and words of other characters
    that it gave up on are read once more by a kernel of a higher limit. Ordinary text never needs the second
    step.

    Raises:
        MissingPieceError: if no piece is the unknown one.
    """

    def __init__(self, vocabulary: Vocabulary, lowercase: bool, max_word_characters: int) -> None:
        super().__init__()
        if vocabulary.specials.unk is None:
            raise vocabulary.specials.missing("unk")
        self._mark = SpecialMarks(vocabulary.specials, vocabulary.sentinels)
        special = self._mark.pieces
        pieces = [
            self._mark.word(piece, lowercase) if piece in special else kernel_piece(piece, index, lowercase)
            for index, piece in enumerate(vocabulary.pieces)
        ]
        self._unknown = vocabulary.ids[vocabulary.specials.unk]
        self._max_word_characters = max_word_characters
        with tf.init_scope(), tf.device("CPU"):
            self._normalizer = tf_text.FastBertNormalizer(
                model_buffer=tf.constant(build_normalizer_model(lowercase))
            )
            self._pieces, self._pieces_of_long_words = (
                _piece_reader(tuple(pieces), pieces[self._unknown], limit)
                for limit in (max_word_characters, max_word_characters * _BYTES_OF_CHARACTER)
            )

    def __call__(
        self, text: tf.Tensor, begins: tf.Tensor | None = None, asked: Collection[str] = ()
    ) -> tf.RaggedTensor:
        """Tokenizes texts.

        Args:
            text: Texts, string [batch].

        Returns:
            int32 [batch, (pieces)], with int64 row splits.
        """
        words = self._normalizer.normalize(self._mark(text, asked))
        ids, starts, ends = self._pieces.tokenize_with_offsets(words)
        lengths = ends.flat_values - starts.flat_values
        given_up = (ids.flat_values == self._unknown) & (
            lengths > tf.cast(self._max_word_characters, lengths.dtype)
        )
        splits, values = tf.cond(
            tf.reduce_any(given_up),
            lambda: self._retry(words, ids, starts, lengths, tf.where(given_up)[:, 0]),
            lambda: (ids.row_splits, ids.flat_values),
        )
        return tf.RaggedTensor.from_row_splits(values, splits, validate=False)

    def _retry(
        self,
        words: tf.Tensor,
        ids: tf.RaggedTensor,
        starts: tf.RaggedTensor,
        lengths: tf.Tensor,
        positions: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Reads the words at `positions`, int64 [words], again: their pieces stand where `[UNK]` stood."""
        rows = tf.gather(ids.value_rowids(), positions)
        text = tf.strings.substr(
            tf.gather(words, rows),
            tf.gather(starts.flat_values, positions),
            tf.gather(lengths, positions),
        )
        short = tf.where(tf.strings.length(text, unit="UTF8_CHAR") <= self._max_word_characters)[:, 0]
        positions, pieces = (
            tf.gather(positions, short),
            self._pieces_of_long_words.tokenize(tf.gather(text, short)),
        )
        return _splice(ids, positions, pieces)


# Building one takes as long as tokenizing thousands of texts, and a process often loads a tokenizer again.
@functools.lru_cache(maxsize=8)
def _piece_reader(pieces: tuple[str, ...], unknown: str, max_bytes: int) -> tf_text.FastWordpieceTokenizer:
    return tf_text.FastWordpieceTokenizer(
        list(pieces), max_bytes_per_word=max_bytes, token_out_type=tf.int32, unknown_token=unknown
    )


def _splice(
    ids: tf.RaggedTensor, positions: tf.Tensor, pieces: tf.RaggedTensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Puts row i of `pieces` in place of the value at `positions[i]`; returns (row splits, values)."""
    count = tf.size(ids.flat_values, out_type=tf.int64)
    one_each = tf.RaggedTensor.from_row_splits(ids.flat_values, tf.range(count + 1), validate=False)
    replaced = count + tf.range(tf.size(positions, out_type=tf.int64))
    order = tf.tensor_scatter_nd_update(tf.range(count), positions[:, tf.newaxis], replaced)
    spliced = tf.gather(tf.concat([one_each, pieces], axis=0), order)
    return tf.gather(spliced.row_splits, ids.row_splits), spliced.flat_values
