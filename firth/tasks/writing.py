"""Base of tasks in which a model reads a text and writes another."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.objectives.transforms.documents import Parts, decoder_features, encoder_decoder_features
from firth.objectives.transforms.layout import Frame, lay_out
from firth.objectives.transforms.pairs import Pairs, chunk_starts
from firth.recipes.tasks.text_to_text import WritingTask
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.scores import Collected
from firth.tasks.fitting import fit_texts
from firth.tasks.inputs import EncodedRecord
from firth.tasks.readers.records import Label, LabelledRecord
from firth.tasks.texts import ServedAnswers, collect, key_of, split_rows


class InputPieces(NamedTuple):
    """The inputs of some records, without special tokens.

    Attributes:
        ids: Pieces of each record, ragged int32 [batch, (pieces)], cut to the room there is.
        cut: Number of pieces that were cut off, int64 [batch].
    """

    ids: tf.RaggedTensor
    cut: tf.Tensor


def input_pieces(
    config: WritingTask, sequences: Sequences, tokenizer: Any, texts: Sequence[tf.Tensor]
) -> InputPieces:
    """Returns the inputs of records: each text after its prefix, the longest one cut first.

    Args:
        texts: The one or two texts of each record, string [batch] each.
    """
    before = (config.prefix, f" {config.pair_prefix}")
    pieces = [tokenizer.tokenize(tf.strings.join([said, text])) for said, text in zip(before, texts)]
    fitted = fit_texts(pieces, config.input_room(sequences))
    return InputPieces(tf.cast(tf.concat(fitted.texts, axis=1), tf.int32), fitted.cut)


class WritingFunction(ServedAnswers):
    """Records to rows, and rows to Features, for a text that is written after another.

    The recipe's task says in `text_of` what is written.
    """

    def __init__(self, config: Any, sequences: Sequences, tokenizer: Any) -> None:
        self._config, self._sequences, self._tokenizer = config, sequences, tokenizer
        form = config.form
        self._input_frame = Frame(self._ids(form.before), (), self._ids(form.after))
        self._target_frame = Frame(self._ids(form.target_before), (), self._ids(form.target_after))

    def _ids(self, roles: Sequence[str]) -> tuple[int, ...]:
        return tuple(getattr(self._tokenizer, f"{role}_id") for role in roles)

    def encode(self, records: Sequence[LabelledRecord]) -> list[EncodedRecord]:
        """Returns records as tokens, cut to fit a row."""
        texts = [
            tf.constant([str(each.texts[role]) for each in records], tf.string) for role in self._config.roles
        ]
        inputs = input_pieces(self._config, self._sequences, self._tokenizer, texts)
        written = tf.constant([self._config.text_of(each.label) for each in records], tf.string)
        targets = fit_texts([self._tokenizer.tokenize(written)], self._config.target_room(self._sequences))
        cut = inputs.cut.numpy() + targets.cut.numpy()
        parts = zip(records, split_rows(inputs.ids), split_rows(targets.texts[0]), cut, strict=True)
        return [
            EncodedRecord(
                key=key_of(record.id),
                source="",
                chunks=(given, target),
                labels=self.labels_of(self._config, record.label),
                cut=int(pieces),
                id=record.id,
                details=self.details_of(self._config, record),
            )
            for record, given, target, pieces in parts
        ]

    def specs(self) -> dict[str, names.Spec]:
        """Returns the specs of the Features of one row."""
        length, targets = self._sequences.length, self._config.target_length(self._sequences)
        encoder = names.encoder_specs(length, segments=False, order=not targets)
        decoder = names.decoder_specs(targets) if targets else {}
        return {**encoder, **decoder, **names.label_specs(targets or length)}

    def __call__(self, row: Mapping[str, tf.Tensor], negative: Any, seed: Any) -> dict[str, tf.Tensor]:
        """Returns the Features of a row; nothing in them is random."""
        length = self._sequences.length
        target_length = self._config.target_length(self._sequences)
        inputs = self._parts(row, 0, self._input_frame, length)
        targets = self._parts(row, 1, self._target_frame, target_length or length)
        weights = tf.cast(inputs.lengths > 0, tf.float32)
        if not target_length:
            return decoder_features(inputs, targets, weights, length)
        start = self._ids(self._config.form.target_start)[0]
        return encoder_decoder_features(inputs, targets, weights, start)

    def _parts(self, row: Mapping[str, tf.Tensor], which: int, frame: Frame, length: int) -> Parts:
        starts = chunk_starts(row)[which::2]
        lengths = row[names.CHUNK_LENGTHS][which::2]
        nothing, never = tf.zeros_like(lengths), tf.zeros_like(lengths, tf.bool)
        segments = Pairs(starts, lengths, nothing, nothing, never, never)
        own = {**row, names.CHUNK_LENGTHS: lengths}
        layout = lay_out(own, None, segments, length, frame, self._tokenizer.pad_id)
        return Parts(layout.token_ids, tf.where(lengths > 0, lengths + len(frame.ids), 0))

    @staticmethod
    def labels_of(config: Any, label: Label) -> dict[str, list[Any]]:
        """Returns the record's part of each label field of a row: empty, as the target is a chunk of it."""
        return {}

    @staticmethod
    def details_of(config: Any, record: LabelledRecord) -> str:
        """Returns the data of scores next to a row; empty if the labels of the row suffice."""
        return ""

    @classmethod
    def collected(cls, config: Any, outputs: Mapping[str, npt.NDArray[Any]], source: str) -> list[Collected]:
        """Returns the records of a row with their answers, for `firth.scores`."""
        return collect(outputs, source, lambda place: cls.reference_and_answer(config, outputs, place))

    @staticmethod
    def reference_and_answer(
        config: Any, outputs: Mapping[str, npt.NDArray[Any]], place: int
    ) -> tuple[Any, Any]:
        """Returns the right answer and the model's, as scores take them."""
        raise NotImplementedError
