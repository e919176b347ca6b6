"""Tasks whose records bring their own choices."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.recipes.tasks.choice import MultipleChoice
from firth.tasks.inputs import EncodedRecord, fit_choices, room_of_choices
from firth.tasks.readers.records import CHOICES, CONTEXT, QUESTION, LabelledRecord
from firth.tasks.texts import TextsTask, key_of, split_rows


class ChoiceTask(TextsTask):
    """One of a record's own choices; see `firth.recipes.tasks.choice.MultipleChoice`."""

    def encode(self, records: Sequence[LabelledRecord]) -> list[EncodedRecord]:
        """Returns records as tokens, each choice with its context, cut so that all of them fit one row.

        Raises:
            ValueError: if a record has more choices than a row can hold.
        """
        counts = np.array([len(each.texts[CHOICES]) for each in records], np.int64)
        self._check(records, counts)
        choices = self._pieces([text for each in records for text in each.texts[CHOICES]])
        context, question = (self._repeated(records, role, counts) for role in (CONTEXT, QUESTION))
        assert context is not None
        room = room_of_choices(self._sequences.length, len(self.frame.ids), tf.constant(counts))
        fitted = fit_choices(context, question, choices, room)
        chunks = [chunk for of_choice in zip(*map(split_rows, fitted.texts)) for chunk in of_choice]
        ends = np.cumsum(counts)
        cut = np.add.reduceat(fitted.cut.numpy(), ends - counts)
        return [
            EncodedRecord(
                key=key_of(record.id),
                source="",
                chunks=tuple(chunks[2 * (end - count) : 2 * end]),
                labels={
                    names.RECORD_LABELS: [int(str(record.label)), *[0] * (count - 1)],
                    names.CHOICE_COUNTS: [count, *[0] * (count - 1)],
                },
                cut=int(of_record),
                id=record.id,
            )
            for record, count, end, of_record in zip(records, counts.tolist(), ends.tolist(), cut)
        ]

    def _check(self, records: Sequence[LabelledRecord], counts: npt.NDArray[np.int64]) -> None:
        most = self._config.documents(self._sequences)
        for record, count in zip(records, counts):
            if count > most:
                raise ValueError(
                    f"the record {record.id!r} has {count} choices; a row of {self._sequences.length} tokens "
                    f"holds at most {most}: make sequences.length greater"
                )

    def _pieces(self, texts: Sequence[Any]) -> tf.RaggedTensor:
        return self._tokenizer.tokenize(tf.constant([str(each) for each in texts]))

    def _repeated(
        self, records: Sequence[LabelledRecord], role: str, counts: npt.NDArray[np.int64]
    ) -> tf.RaggedTensor | None:
        """Returns the tokens of a text of each record, once for each of its choices; None without such."""
        if role not in self._config.roles:
            return None
        return tf.gather(
            self._pieces([each.texts[role] for each in records]), np.repeat(np.arange(len(counts)), counts)
        )

    def specs(self) -> dict[str, names.Spec]:
        """Returns the specs of the Features of one row."""
        return {
            **super().specs(),
            names.CHOICE_COUNTS: names.Spec("int32", (self._config.documents(self._sequences),)),
        }

    def __call__(self, row: Mapping[str, tf.Tensor], negative: Any, seed: Any) -> dict[str, tf.Tensor]:
        """Returns the Features of a row: a record has its weight at the place of its first choice."""
        counts = row[names.CHOICE_COUNTS]
        weights = tf.cast(counts > 0, tf.float32)
        return {
            **super().__call__(row, negative, seed),
            names.CHOICE_COUNTS: counts,
            names.RECORD_WEIGHTS: weights,
        }

    def answers(
        self, row: Mapping[str, tf.Tensor], features: Mapping[str, tf.Tensor], logits: Mapping[str, tf.Tensor]
    ) -> dict[str, tf.Tensor]:
        """Returns the answers that scores are computed from, at the first choices; see `TextsTask.answers`.

        Args:
            logits: Logits by name of the loss, float32 [batch, choices, choices of a record].
        """
        made = super().answers(row, features, logits)
        ends = tf.cumsum(tf.pad(made[names.RECORD_LENGTHS], [[0, 0], [1, 0]]), axis=1)
        places = tf.range(tf.shape(ends)[1] - 1)
        after = tf.gather(ends, tf.minimum(places + row[names.CHOICE_COUNTS], places[-1] + 1), batch_dims=1)
        return {**made, names.RECORD_LENGTHS: after - ends[:, :-1]}

    @classmethod
    def served_answer(cls, config: Any, outputs: Sequence[Mapping[str, Any]], source: str) -> int:
        """Returns the place of the likeliest choice."""
        return int(outputs[0]["place"])

    @classmethod
    def served_numbers(cls, config: Any, outputs: Sequence[Mapping[str, Any]]) -> npt.NDArray[Any]:
        """Returns the probabilities of the choices."""
        return np.asarray(outputs[0]["probabilities"][: outputs[0]["choice_count"]])

    @staticmethod
    def predictions_of(logits: tf.Tensor) -> tf.Tensor:
        """Returns the probabilities of the choices.

        Args:
            logits: float32 [..., choices].
        """
        return tf.nn.softmax(logits)

    @staticmethod
    def answer_of_label(config: MultipleChoice, label: Any) -> int:
        """Returns the place of the right choice."""
        return int(label)

    @staticmethod
    def answer_of(config: MultipleChoice, prediction: npt.NDArray[Any]) -> int:
        """Returns the place of the likeliest choice.

        Args:
            prediction: Probabilities, float32 [choices].
        """
        return int(np.argmax(prediction))
