"""The task of sentence embeddings: each text of a record is a sequence, compared with other texts."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.scores import TextVectors
from firth.tasks.texts import RegressionTask


class EmbeddingTask(RegressionTask):
    """Records to rows, and rows to Features, for vectors; see `firth.recipes.tasks.embedding`."""

    @property
    def room(self) -> int:
        """The most tokens of a record's texts."""
        return self._sequences.length - self._config.documents_of_record * len(self.frame.ids)

    def _labels(self, label: Any, chunks: Sequence[npt.NDArray[np.int32]]) -> dict[str, list[Any]]:
        return {**super()._labels(label, chunks), names.TEXT_KEYS: [_key(each) for each in chunks]}

    def specs(self) -> dict[str, names.Spec]:
        """Returns the specs of the Features of one row."""
        documents = self._config.documents(self._sequences)
        return {**super().specs(), names.TEXT_KEYS: names.Spec("int32", (documents,))}

    def __call__(self, row: Mapping[str, tf.Tensor], negative: Any, seed: Any) -> dict[str, tf.Tensor]:
        """Returns the Features of a row; nothing in them is random."""
        made = super().__call__(row, negative, seed)
        return {**made, names.TEXT_KEYS: row[names.TEXT_KEYS]}

    @classmethod
    def served_answer(cls, config: Any, outputs: Sequence[Mapping[str, Any]], source: str) -> Any:
        """Returns the vectors of the first two texts."""
        return cls.answer_of(config, cls.served_numbers(config, outputs))

    @classmethod
    def served_numbers(cls, config: Any, outputs: Sequence[Mapping[str, Any]]) -> npt.NDArray[Any]:
        """Returns the vectors of the texts, one after another, each of length 1."""
        vectors = [np.asarray(each["embedding"], np.float32) for each in outputs]
        return np.concatenate([each / max(float(np.linalg.norm(each)), 1e-12) for each in vectors])

    @staticmethod
    def answer_of(config: Any, prediction: npt.NDArray[Any]) -> Any:
        """Returns the vectors of the first two texts.

        Args:
            prediction: Vectors of the texts, one after another, float32 [texts * width].
        """
        width = len(prediction) // config.documents_of_record
        vectors = np.asarray(prediction, np.float32)
        return TextVectors(vectors[:width].tobytes(), vectors[width : 2 * width].tobytes())


def _key(tokens: npt.NDArray[np.int32]) -> int:
    """Returns a hash of a text, int32: the same for the same tokens, and rarely the same for others."""
    return int(np.int32(np.uint32(zlib.crc32(np.asarray(tokens, "<i4").tobytes())).view(np.int32)))
