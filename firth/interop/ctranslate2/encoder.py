"""Hidden states that CTranslate2 computes instead of a Keras model."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from firth import features as names
from firth.interop.ctranslate2.exporting import converted
from firth.interop.errors import InteropError, import_extra
from firth.models.bundle import read_recipe


class EncodingModel:
    """An encoder that reads features as the Keras model's backbone does, and gives the same states.

    `firth.serving.load_served(folder, engine="ctranslate2")` makes one with its tokenizer.

    Args:
        folder: Path of a bundle, or of what `firth export --format ctranslate2` wrote.
        quantization: Type that weights are rounded to, such as `int8`; None for float32.
        cache: Folder in which the model of a bundle is kept; see `converted`.

    Raises:
        InteropError: if the model is not an encoder alone, CTranslate2 does not run it, or there is no such
            quantization.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        quantization: str | None = None,
        cache: str | os.PathLike[str] | None = None,
    ) -> None:
        recipe = read_recipe(folder)
        model: Any = recipe.model
        if not model.has_encoder or model.has_decoder:
            raise InteropError(
                f"{recipe.name} is not an encoder alone: of such models CTranslate2 writes texts, and gives "
                "no hidden states"
            )
        made = converted(folder, quantization, cache)
        (library,) = import_extra("ctranslate2", "ctranslate2")
        self._encoder = library.Encoder(made)
        # Only families that have embeddings of segments, or may have, are converted.
        self._has_segments = bool(model.embeddings.segments)
        self._pooled: npt.NDArray[np.float32] | None = None

    @property
    def backbone(self) -> "EncodingModel":
        """The encoder, as a Keras model names it."""
        return self

    @property
    def heads(self) -> "EncodingModel":
        """The heads, of which it has the pooler."""
        return self

    def __call__(self, features: Mapping[str, Any], training: bool = False) -> npt.NDArray[np.float32]:
        """Returns hidden states, float32 [batch, length, width], of rows of one document each.

        Args:
            features: `token_ids`, `document_ids` and `segment_ids`, int32 [batch, length]; padding comes
                last, and its states mean nothing.
            training: Not read.
        """
        ids, documents = (np.asarray(features[name]) for name in (names.TOKEN_IDS, names.DOCUMENT_IDS))
        lengths = np.count_nonzero(documents, axis=1)
        segments = np.asarray(features[names.SEGMENT_IDS])
        types = {"token_type_ids": _rows(segments, lengths)} if self._has_segments else {}
        found = self._encoder.forward_batch(_rows(ids, lengths), **types)
        pooled = found.pooler_output
        self._pooled = None if pooled is None else np.asarray(pooled, np.float32)
        states = np.asarray(found.last_hidden_state, np.float32)
        return np.pad(states, ((0, 0), (0, ids.shape[1] - states.shape[1]), (0, 0)))

    def pooler(self, hidden: Any, places: Any) -> npt.NDArray[np.float32]:
        """Returns the pooled first states of the rows that were read last, float32 [batch, 1, width].

        Args:
            hidden: Their states; not read.
            places: Places that are pooled; only the first is.

        Raises:
            InteropError: The model has no pooler.
        """
        if self._pooled is None:
            raise InteropError("the model has no pooler")
        return self._pooled[:, np.newaxis]


def _rows(values: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> list[list[int]]:
    return [row[:length].tolist() for row, length in zip(values, lengths)]
