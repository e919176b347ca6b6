"""SentencePiece in a graph of constants: special pieces are split off, then come steps, then the model."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph.model_kernel import ModelKernel
from firth.tokenizers.graph.preparation import PREPENDED, Preparation
from firth.tokenizers.graph.sentencepiece_model import without_normalization, without_pieces
from firth.tokenizers.graph.specials import any_of
from firth.tokenizers.graph.text_steps import SPACE, TextSteps

_META_SPACE = "\u2581".encode()
# Stands for U+0000, at which the splitting operation ends a text; these code points are not characters.
_STAND_IN = "\ufdd2\ufdd3"
_SPACES_BEFORE = {"none": "", "one": " ?", "all": f"{SPACE}*"}


class Segments(NamedTuple):
    """Special pieces, and the texts between them.

    Attributes:
        texts: string [segments], empty where a special piece stands.
        specials: string [segments], empty where a text stands.
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

    Args:
        alone: Special pieces that include no space before them.
        after_space: Further special pieces, which include spaces before them.
        spaces: Pattern of these spaces.

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

    Args:
        model: Bytes of a model of SentencePiece.
        preparation: What is done to text before the model reads it.
        alone: Special pieces that include no space before them.
        after_space: Further special pieces, which include spaces before them.
        spaces_before: Which ones, as `SpecialPieces` says it.

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
        spaces = _SPACES_BEFORE[spaces_before]
        late = set(preparation.late)
        self._early = SpecialSplitter(set(alone) - late, set(after_space) - late, spaces)
        self._late = SpecialSplitter(late.intersection(alone), late.intersection(after_space), spaces)
        self._steps = TextSteps(preparation.steps, model)
        self._prefix = preparation.prefix
        self._bytes, self._specials = model, (*alone, *after_space)
        self._later = tuple(step for step in preparation.steps if step != PREPENDED)
        self._prepends = self._later != preparation.steps
        self._of_plain: ModelKernel | None = None
        self._of_later: TextSteps | None = None
        self._model = ModelKernel(without_normalization(model))

    def __call__(self, text: tf.Tensor, after_space: tf.Tensor | None = None) -> tf.RaggedTensor:
        """Tokenizes string [batch] to int32 [batch, (pieces)], with int64 row splits.

        Where texts are words of longer texts, `after_space`, bool [batch], tells which of them get a space
        before them.
        """
        rows = Segments.of_rows(text)
        segments = self._early(rows if after_space is None else rows._replace(firsts=after_space))
        segments = self._late(segments._replace(texts=self._steps(segments.texts)))
        first_alone = self._prefix == "first" or after_space is not None
        ids = self._model.tokenize(self._with_prefix(segments, first_alone)).with_row_splits_dtype(tf.int64)
        is_special = segments.specials != ""
        specials = self._model.string_to_id(segments.specials[is_special])
        one_each = tf.RaggedTensor.from_row_lengths(specials, tf.cast(is_special, tf.int64), validate=False)
        ids = tf.concat([one_each, ids], axis=1)
        splits = tf.gather(ids.row_splits, segments.splits)
        return tf.RaggedTensor.from_row_splits(ids.flat_values, splits, validate=False)

    def plain(self, text: tf.Tensor, begins: tf.Tensor) -> tf.RaggedTensor:
        """Tokenizes as a call does, but for special pieces, which are read as the characters of their names.

        Args:
            text: Texts, string [batch].
            begins: Whether a text may get a space in front, bool [batch]; one that goes on after another may
                not.
        """
        texts = self._steps(text)
        if self._prepends:
            texts = tf.where(begins, texts, self._later_steps(text))
        segments = Segments.of_rows(texts)._replace(firsts=begins)
        return self._plain_model.tokenize(self._with_prefix(segments, True)).with_row_splits_dtype(tf.int64)

    # Made when they are first needed, since most models never read a text in this way; and set as attributes,
    # so that a saved graph holds them.
    @property
    def _plain_model(self) -> ModelKernel:
        if self._of_plain is None:
            model = without_normalization(without_pieces(self._bytes, self._specials))
            self._of_plain = ModelKernel(model)
        return self._of_plain

    @property
    def _later_steps(self) -> TextSteps:
        if self._of_later is None:
            self._of_later = TextSteps(self._later, self._bytes)
        return self._of_later

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
