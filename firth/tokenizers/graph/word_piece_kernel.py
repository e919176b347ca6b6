"""WordPiece on tensorflow-text's `FastWordpieceTokenizer`, equal to the reference in every id."""

import functools
from collections.abc import Collection

import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph.characters import is_word
from firth.tokenizers.graph.normalizer import SPECIAL_MARK, build_normalizer_model, stand_ins
from firth.tokenizers.graph.special_marks import SpecialMarks
from firth.tokenizers.graph.vocabulary import SUFFIX_MARK, Vocabulary

# The kernel limits words in bytes; a character has at most four.
_BYTES_OF_CHARACTER = 4


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
