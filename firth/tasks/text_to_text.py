"""Tasks in which a model reads a text and writes another."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.recipes.tasks.text_to_text import LabelWords, TextToText, WrittenNumber
from firth.scores import Collected, score_of
from firth.scores.rouge import lead
from firth.tasks.inputs import EncodedRecord
from firth.tasks.readers.records import Label, LabelledRecord
from firth.tasks.writing import WritingFunction


class TextToTextTask(WritingFunction):
    """A text for the texts of a record; see `firth.recipes.tasks.text_to_text.TextToText`.

    Of several right texts the first one is learned, and all are scored.
    """

    @staticmethod
    def details_of(config: TextToText, record: LabelledRecord) -> str:
        """Returns the right texts as JSON, whole, though what is learned of them may be cut.

        Where scores are of summaries, the text's first sentences stand next to them: the baseline. Where the
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
        """Returns the records of a row with an answer that is taken from their texts."""
        places = np.flatnonzero(outputs[names.RECORD_WEIGHTS])
        known = [json.loads(outputs[names.RECORD_DETAILS][place]) for place in places]
        answered = list(zip(cls.collected(config, outputs, source), known, strict=True))

        def taken(key: str) -> list[Collected]:
            return [dataclasses.replace(each, prediction=of[key]) for each, of in answered if key in of]

        return {"lead": taken("lead"), "copies": taken("copy")}

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
    `firth.recipes.tasks.text_tasks.TextTasks`.
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
        return {
            key: [
                dataclasses.replace(each, prediction=each.prediction.removeprefix(own.prefix))
                for each in records
            ]
            for key, records in found.items()
        }


class LabelWordsTask(WritingFunction):
    """A class for the texts of a record, by the words of its label; see
    `firth.recipes.tasks.text_to_text.LabelWords`.
    """

    @staticmethod
    def labels_of(config: LabelWords, label: Label) -> dict[str, list[Any]]:
        """Returns the number of a class."""
        return {names.RECORD_LABELS: [config.labels.index(str(label))]}

    @classmethod
    def served_answer(cls, config: Any, outputs: Sequence[Mapping[str, Any]], source: str) -> str:
        """Returns the name of the likeliest class."""
        return str(outputs[0]["label"])

    @classmethod
    def served_numbers(cls, config: Any, outputs: Sequence[Mapping[str, Any]]) -> npt.NDArray[Any]:
        """Returns the probabilities of the classes."""
        return np.asarray(outputs[0]["probabilities"])

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
