"""Continuous batching: texts join and leave the slots of an exported model while others are written."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow_text  # noqa: F401  (registers the ops that the graph's tokenizer needs)

from firth.serving.exported_model import newest_model, read_description
from firth.serving.isolated_check import Loaded
from firth.serving.parameter import values_of
from firth.serving.slots.requests import prefill_request, step_request
from firth.serving.warmup import Request

# From the tokens written so far to those that may come next, bool [vocabulary].
MayCome = Callable[[tuple[int, ...]], npt.NDArray[np.bool_]]
# As `step` counts them.
_ENDED = ("", "end", "length")
_UNFINISHED = "\ufffd"


class SlotPrompt(NamedTuple):
    """A prompt that is to be written after.

    Attributes:
        text: The prompt.
        parameters: Values of the parameters by name, such as `temperature`; the others have their defaults.
        may_come: Function from the tokens written so far to those that may come next, bool [vocabulary]; None
            where all may. The model's own rules come first: no special token is written but the end.
    """

    text: str
    parameters: Mapping[str, float] = {}
    may_come: MayCome | None = None


class SlotText(NamedTuple):
    """A text that is being written in a slot.

    Attributes:
        number: Number of its prompt, in the order in which they joined.
        text: The text so far.
        ids: Its tokens so far, without the end.
        log_probabilities: Natural logarithms of their probabilities, and of the end's.
        ended: Why it ended: `end` (the model wrote the end) or `length`; empty while it is written.
    """

    number: int
    text: str = ""
    ids: tuple[int, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    ended: str = ""


class _Held(NamedTuple):
    prompt: SlotPrompt
    ids: npt.NDArray[np.int32]
    values: Mapping[str, npt.NDArray[Any]]
    so_far: SlotText


class ContinuousBatcher:
    """Writes texts in the slots of an exported model, as a server drives them.

    It loads the model as TF Serving does, and asks `tokenize` and `prefill` when a text joins, then `step`
    and `detokenize`. The slots are its own: an object that loads the same model has others.

    Args:
        directory: Folder of a SavedModel of a recipe with `export.slots`, or a serving directory with a
            folder for each version.

    Attributes:
        described: What the model says about its slots; see `SlotSignatures.describe`.
        loaded: The model in its session.

    Raises:
        firth.serving.NoModelError: if there is no model.
        ValueError: if it has no slots.

    Example:

        batcher = ContinuousBatcher("firth-runs/gpt2_tiny/serving")
        for written in batcher.write(["The fox", "A cat"]):
            print(written.number, written.text)
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        path = newest_model(os.fspath(directory))
        described = read_description(path)
        if "slots" not in described:
            raise ValueError(f"{path} has no slots: export a model that writes with export.slots: 1 or more")
        self.described = described["slots"]
        self.loaded = Loaded(path)
        self._held: list[_Held | None] = [None] * self.described["count"]
        self._joined = 0

    @property
    def free(self) -> int:
        """Number of slots in which no text is written."""
        return self._held.count(None)

    def write(self, prompts: Iterable[str | SlotPrompt]) -> Iterator[SlotText]:
        """Yields what is written after each prompt as soon as it has ended, in the order in which they end.

        Args:
            prompts: Prompts, which are read one by one as slots become free.

        Raises:
            ValueError: as `join` does.
        """
        return (each for each in self.stream(prompts) if each.ended)

    def stream(self, prompts: Iterable[str | SlotPrompt]) -> Iterator[SlotText]:
        """Yields each text after each of its tokens; the last time it has ended.

        Args:
            prompts: Prompts, which are read one by one as slots become free.

        Raises:
            ValueError: as `join` does.
        """
        waiting = iter(prompts)
        while True:
            while self.free and (prompt := next(waiting, None)) is not None:
                self.join(prompt)
            if self.free == len(self._held):
                return
            yield from self.step()

    def join(self, prompt: str | SlotPrompt) -> int:
        """Lets a free slot read a prompt, and returns the number of the text that is written after it.

        Args:
            prompt: The prompt. One that is too long is cut, as `generate` cuts it.

        Raises:
            ValueError: if no slot is free, and for a parameter that is not valid, with the nearest name.
        """
        if not self.free:
            raise ValueError(f"all {len(self._held)} slots are taken: take a step first, or end a text")
        prompt = SlotPrompt(prompt) if isinstance(prompt, str) else prompt
        values = values_of(self.described["parameters"], prompt.parameters, 1)
        asked = {"text": [prompt.text.encode()], "max_new_tokens": values["max_new_tokens"]}
        read = self.loaded.run("tokenize", asked)
        ids = read["ids"][0, : read["length"][0]]
        slot, number = self._held.index(None), self._joined
        self._ask(prefill_request(slot, ids))
        self._held[slot] = _Held(prompt, ids, values, SlotText(number))
        self._joined += 1
        return number

    def end(self, number: int) -> None:
        """Ends a text, and so frees its slot.

        Args:
            number: Number that `join` returned. One that has ended is not there any more.
        """
        self._held = [None if each and each.so_far.number == number else each for each in self._held]

    def step(self) -> list[SlotText]:
        """Writes a token of each text, and returns the texts. Those that have ended leave their slots."""
        found = self._ask(step_request(self.described, **self._step_inputs()))
        for slot, held in enumerate(self._held):
            if held is not None:
                token, score, ended = (found[name][slot] for name in ("token", "log_probability", "ended"))
                self._held[slot] = held._replace(so_far=_further(held.so_far, token, score, _ENDED[ended]))
        written = self._with_texts([each for each in self._held if each is not None])
        self._held = [None if each and each.so_far.ended else each for each in self._held]
        return written

    def _step_inputs(self) -> dict[str, Any]:
        parameters = self.described["parameters"]
        return {
            "active": [each is not None for each in self._held],
            "mask": np.stack([self._mask(each) for each in self._held]),
            **{
                name: [each["default"] if held is None else held.values[name][0] for held in self._held]
                for name, each in parameters.items()
            },
        }

    def _mask(self, held: _Held | None) -> npt.NDArray[np.int32]:
        words = self.described["mask_words"]
        if held is None or held.prompt.may_come is None:
            return np.full(words, -1, np.int32)
        bits, may_come = np.zeros(32 * words, bool), held.prompt.may_come(held.so_far.ids)
        bits[: len(may_come)] = may_come
        return np.packbits(bits, bitorder="little").view("<i4")

    def _with_texts(self, held: Sequence[_Held]) -> list[SlotText]:
        if not held:
            return []
        prompt_ids, prompt_length = _rows([each.ids for each in held])
        ids, length = _rows([each.so_far.ids for each in held])
        asked = {"prompt_ids": prompt_ids, "prompt_length": prompt_length, "ids": ids, "length": length}
        texts = [each.decode() for each in self.loaded.run("detokenize", asked)["generated"]]
        return [
            # A character of which not all bytes are there is held back while the text is written.
            one.so_far._replace(text=text if one.so_far.ended else text.rstrip(_UNFINISHED))
            for one, text in zip(held, texts)
        ]

    def _ask(self, request: Request) -> dict[str, npt.NDArray[Any]]:
        return self.loaded.run(request.signature, request.inputs)


def _further(text: SlotText, token: int, score: float, ended: str) -> SlotText:
    ids = text.ids if ended == "end" else (*text.ids, int(token))
    scores = (*text.log_probabilities, float(score))
    return text._replace(ids=ids, log_probabilities=scores, ended=ended)


def _rows(ids: Sequence[Any]) -> tuple[npt.NDArray[np.int32], list[int]]:
    """Returns tokens as rows that are padded to the longest, and their numbers."""
    lengths = [len(each) for each in ids]
    rows = np.zeros((len(ids), max(lengths)), np.int32)
    for row, each in zip(rows, ids):
        row[: len(each)] = each
    return rows, lengths
