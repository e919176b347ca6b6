"""SentencePiece in a graph of constants: steps, then the model, and before them asked special pieces."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph.sentencepiece_model import (
    ModelKernel,
    unknown_piece,
    without_normalization,
    without_pieces,
)
from firth.tokenizers.graph.special_marks import any_of
from firth.tokenizers.graph.text_steps import PREPENDED, SPACE, Preparation, TextSteps, is_unknown_step

_META_SPACE = "\u2581".encode()
# Replaces U+0000, at which the splitting operation ends a text; these code points are not characters.
_STAND_IN = "\ufdd2\ufdd3"
_SPACES_BEFORE = {"none": "", "one": " ?", "all": f"{SPACE}*"}


class Segments(NamedTuple):
    """Special pieces, and the texts between them.

    Attributes:
        texts: string [segments], empty for a special piece.
        specials: string [segments], empty for a text.
        firsts: bool [segments], True for a text with which its row begins.
        splits: Begin of each row, int64 [batch + 1].
    """

    texts: tf.Tensor
    specials: tf.Tensor
    firsts: tf.Tensor
    splits: tf.Tensor

    @classmethod
    def of_rows(cls, texts: tf.Tensor) -> "Segments":
        """Returns each text as one segment.

        Args:
            texts: string [batch].
        """
        count = tf.size(texts, out_type=tf.int64)
        return cls(texts, tf.fill(tf.shape(texts), ""), tf.ones_like(texts, tf.bool), tf.range(count + 1))


class SpecialSplitter:
    """Splits special pieces off texts, the leftmost first, and of those the longest.

    Example:

    >>> splitter = SpecialSplitter(["[CLS]"], ["[MASK]"], " ?")
    >>> segments = splitter(Segments.of_rows(tf.constant(["[CLS]a [MASK]"])))
    >>> segments.specials.numpy().tolist(), segments.texts.numpy().tolist()
    ([b'[CLS]', b'', b'[MASK]'], [b'', b'a', b''])
    """

    def __init__(self, alone: Collection[str], after_space: Collection[str] = (), spaces: str = "") -> None:
        found = [f"{spaces}{any_of(after_space)}"] * bool(after_space) + [any_of(alone)] * bool(alone)
        self._pattern = "|".join(found)
        self._piece = "".join(f"\\{number + 1}" for number in range(len(found)))

    def _parts(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns string [batch, (parts)], special pieces with their spaces, and what is between them."""
        texts = tf.strings.regex_replace(texts, r"\x00", _STAND_IN)
        parts = tf_text.regex_split(texts, self._pattern, self._pattern)
        # As a tensor: a saved graph would lose it as an attribute.
        values = tf.strings.regex_replace(parts.flat_values, _STAND_IN, tf.constant("\0"))
        return parts.with_row_splits_dtype(tf.int64).with_flat_values(values)

    def __call__(self, segments: Segments) -> Segments:
        """Returns the segments with their texts split further."""
        if not self._pattern:
            return segments
        parts = self._parts(segments.texts)
        found = tf.strings.regex_full_match(parts.flat_values, self._pattern)
        pieces = tf.strings.regex_replace(parts.flat_values, self._pattern, self._piece)
        texts = tf.where(found, "", parts.flat_values)
        begins = tf.gather(parts.row_splits, parts.value_rowids())
        begins = begins == tf.range(tf.size(begins, out_type=tf.int64))
        firsts = begins & ~found & tf.gather(segments.firsts, parts.value_rowids())
        kept = segments.specials != ""

        def joined(old: tf.Tensor, new: tf.Tensor) -> tf.RaggedTensor:
            """Returns the special pieces that were there, each in its place among the parts."""
            one_each = tf.RaggedTensor.from_row_lengths(old[kept], tf.cast(kept, tf.int64), validate=False)
            return tf.concat([one_each, parts.with_flat_values(new)], axis=1)

        specials = joined(segments.specials, tf.where(found, pieces, ""))
        return Segments(
            joined(segments.texts, texts).flat_values,
            specials.flat_values,
            joined(segments.firsts & False, firsts).flat_values,
            tf.gather(specials.row_splits, segments.splits),
        )


class SentencePieceKernel(tf.Module):
    """Text to ids.

    Raises:
        ValueError: if the bytes are not a model, or for a step that is not known.
    """

    def __init__(
        self,
        model: bytes,
        preparation: Preparation,
        alone: Sequence[str],
        after_space: Sequence[str] = (),
        spaces_before: str = "one",
    ) -> None:
        super().__init__()
        self._spaces = _SPACES_BEFORE[spaces_before]
        self._alone, self._after_space, self._late = tuple(alone), tuple(after_space), preparation.late
        # No text becomes a special piece but where one is asked for, and then it is split off before.
        ordinary = without_pieces(model, (*alone, *after_space))
        self._steps, self._prefix = TextSteps(preparation.steps, ordinary), preparation.prefix
        self._unknown = unknown_piece(model)
        steps = list(enumerate(preparation.steps))
        self._prepended = tuple(place for place, step in steps if step == PREPENDED)
        self._of_unknown = tuple(place for place, step in steps if is_unknown_step(step, self._unknown))
        self._model = ModelKernel(without_normalization(ordinary))

    def __call__(
        self, text: tf.Tensor, begins: tf.Tensor | None = None, asked: Collection[str] = ()
    ) -> tf.RaggedTensor:
        """Tokenizes texts.

        Args:
            text: Texts, string [batch].
            begins: Whether a text may get a space in front, bool [batch]; one that continues another may not.
                None if all may.

        Returns:
            int32 [batch, (pieces)], with int64 row splits.
        """
        rows = Segments.of_rows(text)
        segments = rows if begins is None else rows._replace(firsts=begins)
        if asked:
            segments = self._splitter(set(asked).difference(self._late))(segments)
        skipped = () if self._unknown in asked else self._of_unknown
        texts = self._steps(segments.texts, skipped)
        if begins is not None and self._prepended:
            continued = self._steps(segments.texts, (*skipped, *self._prepended))
            texts = tf.where(segments.firsts, texts, continued)
        segments = segments._replace(texts=texts)
        if asked:
            segments = self._splitter(set(asked).intersection(self._late))(segments)
        first_alone = self._prefix == "first" or begins is not None
        ids = self._model.tokenize(self._with_prefix(segments, first_alone)).with_row_splits_dtype(tf.int64)
        return self._with_specials(ids, segments) if asked else ids

    def _splitter(self, asked: Collection[str]) -> SpecialSplitter:
        alone, after_space = (
            [piece for piece in each if piece in asked] for each in (self._alone, self._after_space)
        )
        return SpecialSplitter(alone, after_space, self._spaces)

    def _with_specials(self, ids: tf.RaggedTensor, segments: Segments) -> tf.RaggedTensor:
        """Returns the ids of rows, of those of their segments."""
        is_special = segments.specials != ""
        specials = self._model.string_to_id(segments.specials[is_special])
        one_each = tf.RaggedTensor.from_row_lengths(specials, tf.cast(is_special, tf.int64), validate=False)
        ids = tf.concat([one_each, ids], axis=1)
        splits = tf.gather(ids.row_splits, segments.splits)
        return tf.RaggedTensor.from_row_splits(ids.flat_values, splits, validate=False)

    def _with_prefix(self, segments: Segments, first_alone: bool) -> tf.Tensor:
        texts = segments.texts
        if self._prefix == "never":
            return texts
        # Compared as bytes: a pattern would not match text that is cut inside a character.
        begins = [tf.strings.substr(texts, 0, len(space)) == space for space in (b" ", _META_SPACE)]
        has_space = begins[0] | begins[1]
        wanted = (texts != "") & ~has_space
        wanted = wanted & segments.firsts if first_alone else wanted
        return tf.where(wanted, tf.strings.join([_META_SPACE, texts]), texts)
