"""A loaded bundle, whose texts an engine writes."""

import os
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import numpy.typing as npt
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops of the tokenizer)

from firth import storage
from firth.generation.engines import load_generator
from firth.generation.framing import NoTextError
from firth.recipes.base.errors import suggest
from firth.recipes.run.base import RECIPE_FILE
from firth.serving.server.bundles.texts import GeneratorTexts
from firth.serving.server.errors import RequestError
from firth.serving.server.metrics import Metrics
from firth.serving.server.settings import ServerSettings
from firth.serving.server.slot_queue import SlotQueue
from firth.serving.server.unbatched import UnbatchedRequests
from firth.serving.server.versions import Arrays, ModelVersion, refusal_of
from firth.serving.slots.texts import TEXT_SIGNATURES, SlotTexts
from firth.serving.slots.tokenizer_description import describe_tokenizer


class BundleVersion(ModelVersion):
    """A version that is a bundle, or a model that an engine has made of one.

    It has no signatures of TensorFlow Serving: it writes texts alone.

    Args:
        name: Name of the model.
        version: Number of the version.
        path: Folder of the bundle.
        settings: Settings of the server.
        metrics: Counts of tokens.
        engine: Name of the engine.
        options: Options of the engine.

    Raises:
        ValueError: if the engine does not run the model, its package is not installed, or the model writes
            no text.
    """

    def __init__(
        self,
        name: str,
        version: int,
        path: str,
        settings: ServerSettings,
        metrics: Metrics,
        engine: str,
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(name, version, path)
        try:
            generator: Any = load_generator(path, engine=engine, **options)
        except NoTextError as error:
            raise ValueError(f"{path}: {error}; without --engine its export is served") from None
        self.changed = storage.stamp_of(os.path.join(path, RECIPE_FILE))[1] // 10**9
        self._texts = GeneratorTexts(generator, engine, settings.max_batch_rows)
        texts = SlotTexts(generator.framing)
        self._functions = {
            key: tf.function(getattr(texts, key), input_signature=each.specs, autograph=False)
            for key, each in TEXT_SIGNATURES.items()
        }
        self._unbatched: UnbatchedRequests[Arrays] = UnbatchedRequests(settings.max_queued_rows)
        self.signature_defs = {}
        self.description = {
            "signatures": {},
            "other_signatures": {},
            "slots": self._texts.described,
            "tokenizer": describe_tokenizer(generator.tokenizer, generator.recipe),
        }
        self._queue = SlotQueue(
            self._texts,
            settings.max_queued_texts,
            lambda seconds, is_first: metrics.token(name, seconds, is_first),
        )
        self.slots = self._queue

    def has(self, signature: str) -> bool:
        """Returns whether it is a signature on the tokens of slots; see the base."""
        return signature in self._functions

    def submit(self, signature: str, inputs: Mapping[str, npt.NDArray[Any]]) -> Future[Arrays]:
        """Returns the outputs of a signature on the tokens of slots; see the base."""
        if signature not in self._functions:
            known = suggest(signature, self._functions)
            raise RequestError(f"{self.name} has no signature {signature}; {known}", 404, "signature_name")
        return self._unbatched.submit(lambda: self._computed(signature, inputs))

    def _computed(self, signature: str, inputs: Mapping[str, npt.NDArray[Any]]) -> Arrays:
        described = TEXT_SIGNATURES[signature].inputs
        tensors = [tf.constant(inputs[each], one.dtype) for each, one in described.items()]
        try:
            found = self._functions[signature](*tensors)
        except tf.errors.OpError as error:
            raise refusal_of(error) from None
        return {key: value.numpy() for key, value in found.items()}

    @property
    def queues(self) -> dict[str, int]:
        """Numbers of requests and texts that wait, and of texts that are written."""
        return {
            "queued_rows": self._unbatched.queued,
            "queued_texts": self._queue.queued,
            "active_slots": self._queue.active,
        }

    def close(self) -> None:
        """Writes what was taken to its end, and frees the model."""
        self._queue.close()
        self._texts.close()
        self._unbatched.close()
