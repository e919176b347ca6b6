"""A loaded bundle, whose texts an engine writes."""

import dataclasses
import os
from collections.abc import Hashable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any, NoReturn

import numpy.typing as npt
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops of the tokenizer)

from firth import storage
from firth.constraints.constraint_cache import Run
from firth.constraints.matcher import CompiledConstraint, ConstraintError
from firth.generation.engines import load_generator
from firth.generation.framing import NoTextError
from firth.generation.results import END, TextInProgress
from firth.generation.text_generator import TextGenerator
from firth.recipes.base.errors import suggest
from firth.recipes.generation.constraints import Constraint
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.run.base import RECIPE_FILE
from firth.serving.continuation import PARAMETERS
from firth.serving.parameter import values_of
from firth.serving.server.errors import RequestError
from firth.serving.server.metrics import Metrics
from firth.serving.server.settings import ServerSettings
from firth.serving.server.slot_queue import SlotQueue, StepError
from firth.serving.server.unbatched import UnbatchedRequests
from firth.serving.server.versions import Arrays, ModelVersion, refusal_of
from firth.serving.slots.batcher import SlotPrompt, SlotText
from firth.serving.slots.texts import TEXT_SIGNATURES, SlotTexts
from firth.serving.slots.tokenizer_description import describe_tokenizer


class GeneratorTexts:
    """Writes texts with a generator, several at a time.

    Texts with equal requests that wait are written together, to their ends; those that come later wait for
    them. A text that is drawn is written alone, so that its seed gives it whatever else is asked.

    Args:
        generator: The generator.
        engine: Name of its engine.
        most: Most texts that are written together.

    Attributes:
        described: Facts as `SlotSignatures.describe` gives them. `parameters` are those that the engine has,
            and neither biases nor probabilities are.
    """

    def __init__(self, generator: TextGenerator, engine: str, most: int) -> None:
        self._generator, framing = generator, generator.framing
        self.described: dict[str, Any] = {
            "count": most,
            "prompted_with": framing.goal.prompted_with,
            "prompt_lengths": [framing.most_read],
            "end_id": framing.end_id,
            "vocabulary": len(framing.may_write),
            "biases": 0,
            "top_log_probabilities": 0,
            "log_probabilities": False,
            "parameters": {
                name: dataclasses.asdict(each)
                for name, each in PARAMETERS.items()
                if self._has(name, each.example)
            },
        }
        self.constraints = _NoConstraints(engine)
        # Texts by their numbers, in the order in which they came.
        self._waiting: dict[int, TextInProgress] = {}
        self._running: dict[int, TextInProgress] = {}
        # Numbers of tokens that were returned, as another thread may write meanwhile.
        self._returned: dict[int, int] = {}
        self._blocks: Iterator[None] = iter(())
        self._joined = 0

    def _has(self, name: str, example: float) -> bool:
        try:
            self._generator.check(GenerationRequest.with_values({name: example}))
        except ValueError:
            return False
        return True

    @property
    def free(self) -> int:
        """Number of texts that may join."""
        return int(self.described["count"]) - len(self._waiting) - len(self._running)

    def join(self, prompt: SlotPrompt) -> int:
        """Takes a prompt, and returns the number of the text that is written after it.

        Args:
            prompt: The prompt, whose tokens are given.

        Raises:
            ValueError: for a parameter that is not valid or that the engine lacks, and for an empty prompt of
                an encoder, after which an engine writes nothing.
        """
        values = values_of(self.described["parameters"], prompt.parameters, 1)
        request = _request({name: each[0].item() for name, each in values.items()})
        framed = self._generator.framing.of_ids(prompt.ids or ())
        if self._generator.framing.start and not framed.own:
            raise ValueError("prompt: it is empty; the encoder needs at least one token")
        (text,) = self._generator.begun([framed], [request])
        self._joined += 1
        self._waiting[self._joined] = text
        return self._joined

    def end(self, number: int) -> None:
        """Ends a text that nobody reads any more.

        Args:
            number: Number that `join` returned.
        """
        text = self._waiting.pop(number, None) or self._running.pop(number, None)
        if text is not None:
            text.leave()

    def step(self) -> list[SlotText]:
        """Writes at least a token of a text, and returns the texts that have more tokens than before.

        Raises:
            StepError: if the engine fails, with the texts that it was writing; those that wait are kept.
        """
        if not self._running:
            self._start()
        try:
            next(self._blocks)
        except Exception as error:
            failed, self._running, self._blocks = list(self._running), {}, iter(())
            raise StepError(failed, error) from error
        texts = [_slot_text(number, text) for number, text in self._running.items()]
        found = [each for each in texts if each.ended or each.written > self._returned[each.number]]
        self._returned |= {each.number: each.written for each in found}
        self._running = {each.number: self._running[each.number] for each in texts if not each.ended}
        return found

    def _start(self) -> None:
        # What is left of the texts before them, if all were ended from outside.
        self.close()
        number, first = next(iter(self._waiting.items()))
        key = self._key(number, first)
        self._running = {each: text for each, text in self._waiting.items() if self._key(each, text) == key}
        self._waiting = {each: text for each, text in self._waiting.items() if each not in self._running}
        self._returned = dict.fromkeys(self._running, 0)
        self._blocks = self._generator.blocks(list(self._running.values()), steps=1)

    def _key(self, number: int, text: TextInProgress) -> Hashable:
        alone = number if text.request.sampler.is_random else 0
        return (alone, text.most, self._generator.shared(text))

    def close(self) -> None:
        """Ends what is left of texts that were ended."""
        close = getattr(self._blocks, "close", None)
        if close is not None:
            close()
        self._blocks = iter(())


class _NoConstraints:
    """Refuses each constraint."""

    def __init__(self, engine: str) -> None:
        self._engine = engine

    def compiled(self, constraint: Constraint, finish: bool = False) -> CompiledConstraint:
        """Raises a `ConstraintError`: a text of an engine is free."""
        self._refuse()

    def future(self, constraint: Constraint, finish: bool, run: Run) -> Future[CompiledConstraint]:
        """Raises a `ConstraintError`: a text of an engine is free."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ConstraintError(
            f"the engine {self._engine} holds no text to a constraint; serve an export with slots instead"
        )


def _request(values: Mapping[str, Any]) -> GenerationRequest:
    """Returns the request of the parameters of slots, in which 0 tokens are all, and no temperature draws."""
    given = dict(values)
    # Texts that share nothing but what is drawn can be written together if nothing is.
    if not given.get("temperature"):
        drawn = ("temperature", "seed", *_OF_DRAWING)
        return GenerationRequest.with_values(
            {name: each for name, each in given.items() if name not in drawn}
        )
    return GenerationRequest.with_values({**given, "top_k": given.get("top_k") or None})


_OF_DRAWING = ("top_k", "top_p", "min_p", "typical_p")


def _slot_text(number: int, text: TextInProgress) -> SlotText:
    # Another thread may write meanwhile, and sets the end last.
    ended, ids = text.ended, text.ids
    return SlotText(number, text.settled, ids[:-1] if ended == END else ids, ended=ended)


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
