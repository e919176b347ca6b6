"""Texts that the generator of an engine writes, by the interface of slots."""

import dataclasses
from collections.abc import Hashable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any, NoReturn

from firth.constraints.constraint_cache import Run
from firth.constraints.matcher import CompiledConstraint, ConstraintError
from firth.generation.results import END, TextInProgress
from firth.generation.text_generator import TextGenerator
from firth.recipes.generation.constraints import Constraint
from firth.recipes.generation.request import GenerationRequest
from firth.serving.continuation import PARAMETERS
from firth.serving.parameter import values_of
from firth.serving.server.slot_queue import StepError
from firth.serving.slots.batcher import SlotPrompt, SlotText


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
