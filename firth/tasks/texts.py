"""Tasks with one answer for the one or two texts of a record: classes, and numbers."""

import dataclasses
import hashlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.objectives.transforms.layout import Frame, Layout, lay_out
from firth.objectives.transforms.pairs import Pairs, chunk_starts, single_segments
from firth.recipes.base.errors import suggest
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.scores import Collected
from firth.tasks.inputs import (
    EncodedRecord,
    Fitted,
    apply_segments,
    fit_texts,
    frame_of,
    inputs_of,
    specs_of_inputs,
)
from firth.tasks.readers.records import LabelledRecord

_TEXTS_BY_SCHEMA = {"complete": names.RECORD_COMPLETE_TEXTS, "constrained": names.RECORD_CONSTRAINED_TEXTS}


class ServedAnswers:
    """Base of tasks: turns answers of the task's signature into the inputs of scores.

    Attributes:
        written_output: Output of the signature `written_by` that is a written text.
    """

    written_output = "generated"

    @classmethod
    def asked_texts(cls, record: LabelledRecord, roles: Sequence[str]) -> tuple[Any, ...]:
        """Returns the texts of a record for the inputs of the signature, in their order."""
        return tuple(record.texts[role] for role in roles)

    @classmethod
    def end_of(cls, config: Any, tokenizer: Any) -> int:
        """Returns the id of the token that ends a written text."""
        raise NotImplementedError

    @classmethod
    def served_answer(cls, config: Any, outputs: Sequence[Mapping[str, Any]], source: str) -> Any:
        """Returns an answer as scores take it."""
        raise NotImplementedError

    @classmethod
    def served_numbers(cls, config: Any, outputs: Sequence[Mapping[str, Any]]) -> npt.NDArray[Any]:
        """Returns the numbers that an answer follows from, as `answers` has them of a row; here none."""
        return np.zeros([0])

    @classmethod
    def is_read_alike(cls, outputs: Sequence[Mapping[str, Any]], tokens: int | None) -> bool:
        """Returns whether the signature reads as much of a record as its row holds."""
        return tokens is None or sum(each["tokens_read"] for each in outputs) == tokens


class TextsTask(ServedAnswers):
    """Records to rows, and rows to Features, for a label a record.

    Subclasses say in `label_of` and `answer_of` what a label is.
    """

    label_dtype = "int32"

    def __init__(self, config: Any, sequences: Sequences, tokenizer: Any) -> None:
        self._config, self._sequences, self._tokenizer = config, sequences, tokenizer
        form = config.form
        between = form.between if config.texts > 1 else ()
        self.frame = frame_of(tokenizer, form.before, between, form.after)

    @property
    def room(self) -> int:
        """The most tokens of a record's texts, in each order."""
        return self._sequences.length // self._config.form.orders - len(self.frame.ids)

    def encode(self, records: Sequence[LabelledRecord]) -> list[EncodedRecord]:
        """Returns records as tokens, cut to fit a row."""
        columns = [tf.constant([str(each.texts[role]) for each in records]) for role in self._config.roles]
        fitted = fit_texts([self._split(each) for each in columns], self.room)
        orders = (1, -1)[: self._config.form.orders]
        return [
            EncodedRecord(
                key=key_of(record.id),
                source="",
                chunks=tuple(chunk for order in orders for chunk in of_record[::order]),
                labels=self._labels(record.label, of_record),
                cut=int(cut),
                words=words,
                id=record.id,
            )
            for record, of_record, words, cut in zip(records, *self._tokens(fitted), fitted.cut.numpy())
        ]

    def _labels(self, label: Any, chunks: Sequence[npt.NDArray[np.int32]]) -> dict[str, list[Any]]:
        """Returns a record's part of each label field of a row."""
        return {names.RECORD_LABELS: [self.label_of(self._config, label)]}

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        split = self._tokenizer.split if self._config.form.of_words else self._tokenizer.tokenize
        return split(texts)

    def _tokens(self, fitted: Fitted) -> tuple[Iterable[Any], Iterable[Any]]:
        """Returns the tokens of each record's texts, and their words if tokens are words."""
        texts = list(zip(*(split_rows(each) for each in fitted.texts), strict=True))
        if not self._config.form.of_words:
            return texts, itertools.repeat(())
        ids = (split_rows(self._tokenizer.word_ids(each)) for each in fitted.texts)
        return zip(*ids, strict=True), texts

    def specs(self) -> dict[str, names.Spec]:
        """Returns the specs of the Features of one row."""
        form, length = self._config.form, self._sequences.length
        inputs = specs_of_inputs(form, length, self._tokenizer.max_characters)
        places = self._config.documents(self._sequences)
        records = places // self._config.documents_of_record
        of_tokens = names.label_specs(self._sequences.length) if self._predicts_tokens else {}
        return {**inputs, **names.record_specs(places, records, self.label_dtype), **of_tokens}

    @property
    def _predicts_tokens(self) -> bool:
        return getattr(self._config, "lm_weight", 0.0) > 0

    def __call__(self, row: Mapping[str, tf.Tensor], negative: Any, seed: Any) -> dict[str, tf.Tensor]:
        """Returns the Features of a row; nothing in them is random."""
        layout, lengths = self.laid_out(row)
        return {
            **inputs_of(layout, row, self._config.form, self._tokenizer),
            names.POOLED_POSITIONS: self._pooled(layout, lengths),
            names.RECORD_LABELS: row[names.RECORD_LABELS],
            names.RECORD_WEIGHTS: tf.cast(lengths[:: self._config.documents_of_record] > 0, tf.float32),
            **(_next_tokens(layout) if self._predicts_tokens else {}),
        }

    def laid_out(self, row: Mapping[str, tf.Tensor]) -> tuple[Layout, tf.Tensor]:
        """Returns a row's records with their special tokens, and the tokens of the texts of each."""
        if self._config.form.of_words:
            return self._laid_out_apart(row)
        pairs = self._segments(row)
        lengths = pairs.lengths
        layout = lay_out(
            {**row, names.CHUNK_LENGTHS: lengths},
            None,
            pairs,
            self._sequences.length,
            self.frame,
            self._tokenizer.pad_id,
        )
        return apply_segments(layout, self._config.form), lengths

    def _laid_out_apart(self, row: Mapping[str, tf.Tensor]) -> tuple[Layout, tf.Tensor]:
        """Returns a row in which each text is a document of its own."""
        frame = Frame(before=self.frame.before, after=self.frame.after)
        pad_id, every = self._tokenizer.pad_id, slice(None, None, self._config.texts)
        layout = lay_out(row, None, single_segments(row), self._sequences.length, frame, pad_id)
        return layout._replace(starts=layout.starts[every]), row[names.CHUNK_LENGTHS][every]

    def _segments(self, row: Mapping[str, tf.Tensor]) -> Pairs:
        starts, lengths = chunk_starts(row), row[names.CHUNK_LENGTHS]
        texts = self._config.texts
        first, last = slice(None, None, texts), slice(texts - 1, None, texts)
        never = tf.zeros_like(lengths[first], tf.bool)
        second = lengths[last] if texts > 1 else tf.zeros_like(lengths)
        return Pairs(starts[first], lengths[first], starts[last], second, never, never)

    def _pooled(self, layout: Layout, lengths: tf.Tensor) -> tf.Tensor:
        if not self._config.form.summary_is_last:
            return layout.starts
        ends = layout.starts + lengths + len(self.frame.ids) - 1
        return tf.where(lengths > 0, ends, 0)

    def answers(
        self, row: Mapping[str, tf.Tensor], features: Mapping[str, tf.Tensor], logits: Mapping[str, tf.Tensor]
    ) -> dict[str, tf.Tensor]:
        """Returns the answers that scores are computed from, for the records of some rows.

        Args:
            logits: Logits by name of the loss, float32 [batch, max_documents, classes].

        Returns:
            record_keys: int64 [batch, max_documents].
            record_weights: float32 [batch, max_documents], 0 where there is no record.
            record_labels: int32 or float32 [batch, max_documents].
            record_lengths: int32 [batch, max_documents], tokens of the record's texts.
            record_predictions: float32 [batch, max_documents, classes]; see `predictions_of`.
        """
        chunks, (only,) = self._config.documents_of_record * self._config.texts, logits.values()
        lengths = row[names.CHUNK_LENGTHS]
        of_records = tf.reshape(lengths, [-1, lengths.shape[1] // chunks, chunks])
        # A text that is read in two orders is one text.
        of_records = of_records[:, :, : chunks // self._config.form.orders]
        return {
            names.RECORD_KEYS: row[names.DOCUMENT_KEYS][:, ::chunks],
            names.RECORD_WEIGHTS: features[names.RECORD_WEIGHTS],
            names.RECORD_LABELS: features[names.RECORD_LABELS],
            names.RECORD_LENGTHS: tf.reduce_sum(of_records, axis=2),
            names.RECORD_PREDICTIONS: self.predictions_of(only),
        }

    @classmethod
    def collected(cls, config: Any, outputs: Mapping[str, npt.NDArray[Any]], source: str) -> list[Collected]:
        """Returns the records of a row with their answers, for `firth.scores`."""

        def answer(place: int) -> tuple[Any, Any]:
            right, made = (outputs[name][place] for name in (names.RECORD_LABELS, names.RECORD_PREDICTIONS))
            return cls.answer_of_label(config, right), cls.answer_of(config, made)

        return collect(outputs, source, answer)

    @staticmethod
    def predictions_of(logits: tf.Tensor) -> tf.Tensor:
        """Returns the predictions that follow from logits.

        Args:
            logits: float32 [..., classes].
        """
        return logits

    @staticmethod
    def label_of(config: Any, label: Any) -> int | float:
        """Returns a record's label as a row has it."""
        raise NotImplementedError

    @staticmethod
    def answer_of_label(config: Any, label: Any) -> Any:
        """Returns a row's label as scores take it."""
        raise NotImplementedError

    @staticmethod
    def answer_of(config: Any, prediction: npt.NDArray[Any]) -> Any:
        """Returns a prediction as scores take it.

        Args:
            prediction: float32 [classes].
        """
        raise NotImplementedError


def _next_tokens(layout: Layout) -> dict[str, tf.Tensor]:
    """Returns the token after each one, of those that are not the last of their record."""
    ids, documents = (tf.pad(each[1:], [[0, 1]]) for each in (layout.token_ids, layout.document_ids))
    has_next = (documents == layout.document_ids) & (documents > 0)
    return {
        names.LABEL_IDS: tf.where(has_next, ids, 0),
        names.LABEL_WEIGHTS: tf.cast(has_next, tf.float32),
    }


class ServedClasses(ServedAnswers):
    """Base of tasks whose signature answers by a class and the probabilities of all."""

    @classmethod
    def served_answer(cls, config: Any, outputs: Sequence[Mapping[str, Any]], source: str) -> str:
        """Returns the name of the likeliest class."""
        return str(outputs[0]["label"])

    @classmethod
    def served_numbers(cls, config: Any, outputs: Sequence[Mapping[str, Any]]) -> npt.NDArray[Any]:
        """Returns the probabilities of the classes."""
        return np.asarray(outputs[0]["probabilities"])


class ClassificationTask(ServedClasses, TextsTask):
    """A class for the texts of a record; see `firth.recipes.tasks.classification.Classification`."""

    @staticmethod
    def predictions_of(logits: tf.Tensor) -> tf.Tensor:
        """Returns the probabilities of the classes.

        Args:
            logits: float32 [..., classes].
        """
        return tf.nn.softmax(logits)

    @staticmethod
    def label_of(config: Classification, label: Any) -> int:
        """Returns the number of a class."""
        if str(label) not in config.labels:
            raise ValueError(f"label: {label!r} is not a class; {suggest(str(label), config.labels)}")
        return config.labels.index(str(label))

    @staticmethod
    def answer_of_label(config: Classification, label: Any) -> str:
        """Returns the name of a class."""
        return config.labels[int(label)]

    @staticmethod
    def answer_of(config: Classification, prediction: npt.NDArray[Any]) -> str:
        """Returns the name of the likeliest class.

        Args:
            prediction: Probabilities, float32 [classes].
        """
        return config.labels[int(np.argmax(prediction))]


class RegressionTask(TextsTask):
    """A number for the texts of a record; see `firth.recipes.tasks.classification.Regression`."""

    label_dtype = "float32"

    @classmethod
    def served_answer(cls, config: Any, outputs: Sequence[Mapping[str, Any]], source: str) -> Any:
        """Returns the number."""
        return outputs[0]["value"]

    @classmethod
    def served_numbers(cls, config: Any, outputs: Sequence[Mapping[str, Any]]) -> npt.NDArray[Any]:
        """Returns the number."""
        return np.asarray([outputs[0]["value"]])

    @staticmethod
    def label_of(config: Regression, label: Any) -> float:
        """Returns the number."""
        return float(label)

    answer_of_label = label_of

    @staticmethod
    def answer_of(config: Any, prediction: npt.NDArray[Any]) -> Any:
        """Returns the number.

        Args:
            prediction: float32 [1].
        """
        return float(prediction[0])


def collect(
    outputs: Mapping[str, npt.NDArray[Any]], source: str, answer: Callable[[int], tuple[Any, Any]]
) -> list[Collected]:
    """Returns the records of a row with their answers, for `firth.scores`."""
    return [
        Collected(
            str(int(outputs[names.RECORD_KEYS][place])),
            *answer(place),
            source,
            int(outputs[names.RECORD_LENGTHS][place]),
        )
        for place in np.flatnonzero(outputs[names.RECORD_WEIGHTS]).tolist()
    ]


def texts_by_schema(
    examples: Sequence[Collected], outputs: Mapping[str, npt.NDArray[Any]]
) -> dict[str, list[Collected]]:
    """Returns the records of a row with the texts that are scored by a schema; nothing without a schema.

    Args:
        examples: The records of the row, as `collect` returns them.
        outputs: Outputs of the model for the row.

    Returns:
        Lists by their names in `firth.evaluation.record_scores.Records`.
    """
    places = np.flatnonzero(outputs[names.RECORD_WEIGHTS])
    return {
        key: [
            dataclasses.replace(each, prediction=text.decode("utf-8", "replace"))
            for each, text in zip(examples, outputs[name][places], strict=True)
        ]
        for key, name in _TEXTS_BY_SCHEMA.items()
        if name in outputs
    }


def split_rows(tokens: tf.RaggedTensor) -> list[npt.NDArray[np.int32]]:
    """Returns each row of a ragged tensor as an array.

    Args:
        tokens: Tokens, ragged int32 [rows, (tokens)].
    """
    return np.split(tokens.flat_values.numpy(), tokens.row_splits.numpy()[1:-1])


def key_of(id: str) -> int:
    """Returns a record's key in its row, a hash of its id that is not 0.

    Example:

    >>> key_of("a") == key_of("a") != key_of("b")
    True
    """
    return int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "little") % (2**63 - 1) + 1
