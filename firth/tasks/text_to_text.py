"""Tasks in which a model reads a text and writes another."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.objectives.transforms.documents import Parts, decoder_features, encoder_decoder_features
from firth.objectives.transforms.layout import Frame, lay_out
from firth.objectives.transforms.pairs import Pairs, chunk_starts
from firth.recipes.tasks.text_to_text import LabelWords, TextToText, WritingTask, WrittenNumber
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.scores import Collected, score_of
from firth.scores.rouge import lead
from firth.tasks.inputs import EncodedRecord, fit_texts
from firth.tasks.readers.records import Label, LabelledRecord
from firth.tasks.texts import ServedAnswers, ServedClasses, collect, key_of, split_rows, texts_by_schema


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

    @classmethod
    def end_of(cls, config: Any, tokenizer: Any) -> int:
        """Returns the id of the token that ends a written text."""
        return int(getattr(tokenizer, f"{config.form.target_after[0]}_id"))

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


class TextToTextTask(WritingFunction):
    """A text for the texts of a record; see `firth.recipes.tasks.text_to_text.TextToText`.

    Of several right texts the first one is learned, and all are scored.
    """

    @staticmethod
    def details_of(config: TextToText, record: LabelledRecord) -> str:
        """Returns the right texts as JSON, whole, though what is learned of them may be cut.

        Where scores are of summaries, the text's first sentences are next to them: the baseline. Where the
        headline is not, it is the text itself, if that could be an answer.
        """
        text, own = str(record.texts[config.roles[0]]), config.of_source(record.source)
        is_summary = any(score_of(name).of_summaries for name in config.score_names)
        baselines = {"lead": lead(text)} if is_summary else {}
        if _compares_copies(own):
            baselines["copy"] = text
        return json.dumps({"right": _right_texts(record.label), **baselines}, ensure_ascii=False)

    @classmethod
    def baselines(
        cls, config: Any, outputs: Mapping[str, npt.NDArray[Any]], source: str
    ) -> dict[str, list[Collected]]:
        """Returns the records of a row with answers from their texts, and those written under a schema."""
        places = np.flatnonzero(outputs[names.RECORD_WEIGHTS])
        known = [json.loads(outputs[names.RECORD_DETAILS][place]) for place in places]
        answered = list(zip(cls.collected(config, outputs, source), known, strict=True))

        def taken(key: str) -> list[Collected]:
            return [dataclasses.replace(each, prediction=of[key]) for each, of in answered if key in of]

        found = {"lead": taken("lead"), "copies": taken("copy")}
        return found | texts_by_schema([each for each, _ in answered], outputs)

    @classmethod
    def served_answer(cls, config: Any, outputs: Sequence[Mapping[str, Any]], source: str) -> Any:
        """Returns the text that was written, or what it says in the task of its source."""
        return config.of_source(source).answer_of_text(outputs[0]["generated"])

    @staticmethod
    def reference_and_answer(
        config: TextToText, outputs: Mapping[str, npt.NDArray[Any]], place: int
    ) -> tuple[Any, Any]:
        """Returns the right text, or the list of them, and the text that was written."""
        right = json.loads(outputs[names.RECORD_DETAILS][place])["right"]
        written = outputs[names.RECORD_TEXTS][place].decode("utf-8", "replace")
        return right[0] if len(right) == 1 else right, written


class TextTasksTask(TextToTextTask):
    """A text for the one text of a record, of several tasks; see
    `firth.recipes.tasks.tasks.TextTasks`.
    """

    def encode(self, records: Sequence[LabelledRecord]) -> list[EncodedRecord]:
        """Returns records as tokens, cut to fit a row, with the numbers of their tasks."""
        numbers = {source: number for number, source in enumerate(self._config.tasks)}
        return [
            each._replace(labels={names.TASK_IDS: [numbers[record.source]]})
            for each, record in zip(super().encode(records), records, strict=True)
        ]

    def specs(self) -> dict[str, names.Spec]:
        """Returns the specs of the Features of one row, with the numbers of the tasks."""
        return {**super().specs(), **self._config.label_specs(self._sequences)}

    def __call__(self, row: Mapping[str, tf.Tensor], negative: Any, seed: Any) -> dict[str, tf.Tensor]:
        """Returns the Features of a row; nothing in them is random."""
        return {**super().__call__(row, negative, seed), names.TASK_IDS: row[names.TASK_IDS]}

    @classmethod
    def collected(cls, config: Any, outputs: Mapping[str, npt.NDArray[Any]], source: str) -> list[Collected]:
        """Returns the records of a row with what their texts say in the task of their source."""
        own = config.of_source(source)
        return [
            dataclasses.replace(
                each,
                reference=own.answer_of_text(each.reference),
                prediction=own.answer_of_text(each.prediction),
            )
            for each in super().collected(config, outputs, source)
        ]

    @classmethod
    def baselines(
        cls, config: Any, outputs: Mapping[str, npt.NDArray[Any]], source: str
    ) -> dict[str, list[Collected]]:
        """Returns the records of a row with an answer from their texts, without what is in front of these."""
        own = config.of_source(source)
        found = super().baselines(config, outputs, source)
        if not any(score_of(name).of_summaries for name in own.scores):
            found["lead"] = []
        for key in ("lead", "copies"):
            found[key] = [
                dataclasses.replace(each, prediction=each.prediction.removeprefix(own.prefix))
                for each in found[key]
            ]
        return found


class LabelWordsTask(ServedClasses, WritingFunction):
    """A class for the texts of a record, by the words of its label; see
    `firth.recipes.tasks.text_to_text.LabelWords`.
    """

    @staticmethod
    def labels_of(config: LabelWords, label: Label) -> dict[str, list[Any]]:
        """Returns the number of a class."""
        return {names.RECORD_LABELS: [config.labels.index(str(label))]}

    @staticmethod
    def reference_and_answer(
        config: LabelWords, outputs: Mapping[str, npt.NDArray[Any]], place: int
    ) -> tuple[Any, Any]:
        """Returns the names of the right class and of the likeliest one."""
        likeliest = int(np.argmax(outputs[names.RECORD_PREDICTIONS][place]))
        return config.labels[int(outputs[names.RECORD_LABELS][place])], config.labels[likeliest]


class WrittenNumberTask(WritingFunction):
    """A number for the texts of a record, written as text; see
    `firth.recipes.tasks.text_to_text.WrittenNumber`.
    """

    @staticmethod
    def labels_of(config: WrittenNumber, label: Label) -> dict[str, list[Any]]:
        """Returns the number itself, since scores compare with what is right."""
        return {names.RECORD_LABELS: [float(label)]}  # type: ignore[arg-type]

    @classmethod
    def served_answer(cls, config: Any, outputs: Sequence[Mapping[str, Any]], source: str) -> float:
        """Returns the number."""
        return float(outputs[0]["value"])

    @staticmethod
    def reference_and_answer(
        config: WrittenNumber, outputs: Mapping[str, npt.NDArray[Any]], place: int
    ) -> tuple[Any, Any]:
        """Returns the right number and the one that was written."""
        written = outputs[names.RECORD_TEXTS][place].decode("utf-8", "replace")
        return float(outputs[names.RECORD_LABELS][place]), config.answer_of_text(written)


def _right_texts(label: Label) -> list[str]:
    return [label] if isinstance(label, str) else [str(each) for each in label]  # type: ignore[union-attr]


def _compares_copies(task: Any) -> bool:
    """Returns whether the headline of a task is compared with that of copies of the texts."""
    return task.answers_in_texts and not score_of(task.headlines[0]).of_summaries
