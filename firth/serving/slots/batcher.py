"""Continuous batching: texts join and leave the slots of an exported model while others are written."""

import functools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that the graph's tokenizer needs)

from firth.constraints.constraint_cache import ConstraintCache
from firth.constraints.matcher import CompiledConstraint, ConstraintError, Matcher, fill_masks
from firth.constraints.token_automaton import AutomatonConstraint
from firth.generation.results import END, LENGTH, STUCK
from firth.recipes.base.errors import suggest
from firth.recipes.generation.constraints import Constraint
from firth.serving.exported_model import newest_model, read_description
from firth.serving.parameter import values_of
from firth.serving.schemas.automata import read_automaton
from firth.serving.slots.loaded import Loaded
from firth.serving.slots.requests import GREATEST_BIAS, prefill_request, step_request
from firth.serving.slots.tokenizer_description import read_token_bytes
from firth.serving.warmup import Request
from firth.tokenizers.dialogue_prompts import REFUSAL

# As `step` counts them.
_ENDED = ("", END, LENGTH)
_UNFINISHED = "\ufffd"
# Characters of a text that is refused.
_SHOWN = 60


class SlotPrompt(NamedTuple):
    """A prompt that is to be written after.

    Attributes:
        text: The prompt; for a model that learned dialogues (`described["prompted_with"]` is `turns`) one as
            JSON, a list of messages with `role` and `content`. It is not read where there are `ids`.
        parameters: Values of the parameters by name, such as `temperature`; the others have their defaults.
        constraint: Schema, regular expression, choices or grammar that the text is held to, or one that was
            compiled for the model; None for a free text. The model's own rules come first: no special token
            is written but the end.
        ids: Tokens of the prompt with its special ones, as the model reads them; None to read `text`.
        logit_bias: Numbers that are added to the logits of tokens, by id; at most `described["biases"]`.
        schema: Name of a schema of the model, of `export.schemas`, that the text is valid by and ends in time
            for, instead of a `constraint`; empty for none. It needs no further package.
    """

    text: str = ""
    parameters: Mapping[str, float] = {}
    constraint: Constraint | CompiledConstraint | None = None
    ids: Sequence[int] | None = None
    logit_bias: Mapping[int, float] = {}
    schema: str = ""


class SlotText(NamedTuple):
    """A text that is being written in a slot.

    Attributes:
        number: Number of its prompt, in the order in which they joined.
        text: The text so far.
        ids: Its tokens so far, without the end.
        log_probabilities: Natural logarithms of their probabilities, and of the end's.
        ended: Why it ended: `end` (the model wrote the end), `length`, or `stuck` (no token can continue it
            under its constraint); empty while it is written.
        top: At the place of each token, and of the end, the likeliest tokens with the natural logarithms of
            their probabilities, the likeliest first; as many as `described["top_log_probabilities"]`.
        complete: True if the text meets its constraint, False if it does not yet; None without one.
    """

    number: int
    text: str = ""
    ids: tuple[int, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    ended: str = ""
    top: tuple[tuple[tuple[int, float], ...], ...] = ()
    complete: bool | None = None

    @property
    def written(self) -> int:
        """Number of tokens that were written, the end among them.

        Example:

        >>> SlotText(0, ids=(5, 6), ended="end").written, SlotText(0, ids=(5, 6), ended="length").written
        (3, 2)
        """
        return len(self.ids) + (self.ended == END)


class _Held(NamedTuple):
    ids: npt.NDArray[np.int32]
    values: Mapping[str, npt.NDArray[Any]]
    biases: npt.NDArray[np.float32]
    bias_ids: npt.NDArray[np.int32]
    matcher: Matcher | None
    so_far: SlotText


class ContinuousBatcher:
    """Writes texts in the slots of an exported model, as a server drives them.

    It loads the model as TF Serving does, and asks `tokenize` and `prefill` when a text joins, then `step`
    and `detokenize`. The slots are its own: an object that loads the same model has others.

    Args:
        directory: Folder of a SavedModel of a recipe with `export.slots`, or a serving directory with a
            folder for each version.
        loaded: The model in its session, where it is loaded already; nothing else may ask its slots.

    Attributes:
        described: What the model says about its slots; see `SlotSignatures.describe`.
        loaded: The model in its session.
        constraints: Constraints that were compiled for the model.
        schemas: Schemas that the model was exported with, as `firth.json` describes them, by name.

    Raises:
        firth.serving.NoModelError: if there is no model.
        ValueError: if it has no slots.

    Example:

        batcher = ContinuousBatcher("firth-runs/gpt2_tiny/serving")
        for written in batcher.write(["The fox", "A cat"]):
            print(written.number, written.text)
    """

    def __init__(self, directory: str | os.PathLike[str], loaded: Loaded | None = None) -> None:
        path = newest_model(os.fspath(directory))
        described = read_description(path)
        if "slots" not in described:
            raise ValueError(f"{path} has no slots: export a model that writes with export.slots: 1 or more")
        self.described = described["slots"]
        self.schemas: Mapping[str, Any] = described.get("schemas", {})
        self.loaded = loaded or Loaded(path)
        self.constraints = ConstraintCache(functools.partial(read_token_bytes, path))
        self._path, self._of_schemas = path, dict[str, AutomatonConstraint]()
        count, words = self.described["count"], self.described["mask_words"]
        self._held: list[_Held | None] = [None] * count
        # Rows of free texts, and of no text, let all tokens come.
        self._mask = np.full([count, words], -1, np.int32)
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
            prompt: The prompt. A text that is too long is cut, as `generate` cuts it.

        Raises:
            ValueError: if no slot is free; for a parameter that is not valid, with the nearest name; for ids
                and biases that the model does not read; for a constraint that it cannot be held to; for a
                schema that the model was not exported with; as `tokenize` does.
        """
        if not self.free:
            raise ValueError(f"all {len(self._held)} slots are taken: take a step first, or end a text")
        prompt = SlotPrompt(prompt) if isinstance(prompt, str) else prompt
        values = values_of(self.described["parameters"], prompt.parameters, 1)
        bias_ids, biases = self._biases(prompt.logit_bias)
        most = values["max_new_tokens"][0]
        ids = self.tokenize(prompt.text, most) if prompt.ids is None else self._checked(prompt.ids)
        constraint = self._of_schema(prompt) if prompt.schema else prompt.constraint
        if isinstance(constraint, Constraint):
            constraint = self.constraints.compiled(constraint)
        slot, number = self._held.index(None), self._joined
        room = int(self._ask(prefill_request(slot, ids))["room"][0])
        matcher = None if constraint is None else constraint.new_matcher(min(int(most), room))
        so_far = SlotText(number, complete=None if matcher is None else False)
        self._held[slot] = _Held(ids, values, biases, bias_ids, matcher, so_far)
        self._joined += 1
        return number

    def _of_schema(self, prompt: SlotPrompt) -> AutomatonConstraint:
        """Returns the automaton of a prompt's schema, which the model was exported with."""
        name = prompt.schema
        if prompt.constraint is not None:
            raise ValueError(
                "schema: a text is held to a schema of the model or to a constraint, not to both"
            )
        if name not in self.schemas:
            nearest = suggest(name, self.schemas) if self.schemas else "the model was exported without any"
            raise ValueError(f"schema: there is no {name!r}; {nearest}")
        if name not in self._of_schemas:
            automaton = read_automaton(self._path, name, self.constraints.tokens)
            self._of_schemas[name] = AutomatonConstraint(automaton, finish=True)
        return self._of_schemas[name]

    def tokenize(self, text: str, max_new_tokens: int = 1) -> npt.NDArray[np.int32]:
        """Returns a text's tokens with the special ones, as a slot reads them, int32 [tokens].

        Args:
            text: The text.
            max_new_tokens: Most tokens to write, for which a long text is cut.

        Raises:
            ValueError: for a text that is not a dialogue, if the model learned dialogues.
        """
        try:
            read = self.loaded.run("tokenize", {"text": [text.encode()], "max_new_tokens": [max_new_tokens]})
        except tf.errors.InvalidArgumentError as error:
            raise ValueError(f"text: {REFUSAL}; it is {text[:_SHOWN]!r}") from error
        return read["ids"][0, : read["length"][0]]

    def detokenize(self, prompt_ids: Sequence[int], ids: Sequence[int]) -> str:
        """Returns the text of tokens that were written after a prompt.

        Args:
            prompt_ids: Tokens that the slot has read.
            ids: Tokens that were written, without the end.
        """
        return self._detokenized([prompt_ids], [ids])[0]

    def _checked(self, ids: Sequence[int]) -> npt.NDArray[np.int32]:
        """Returns a prompt's tokens."""
        most = self.described["prompt_lengths"][-1]
        if not 0 < len(ids) <= most:
            raise ValueError(f"ids: a prompt has 1 to {most:,} tokens, not {len(ids):,}")
        self._check_ids("ids", ids)
        return np.array(ids, np.int32)

    def _check_ids(self, name: str, ids: Iterable[int]) -> None:
        for each in ids:
            if not 0 <= each < self.described["vocabulary"]:
                raise ValueError(
                    f"{name}: a token is at least 0 and below {self.described['vocabulary']:,}, not {each}"
                )

    def _biases(self, given: Mapping[int, float]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Returns tokens with a bias and their biases, with zeros after them."""
        most = self.described.get("biases", 0)
        if len(given) > most:
            raise ValueError(f"logit_bias: a text has at most {most} biases, not {len(given)}")
        self._check_ids("logit_bias", given)
        for token, bias in given.items():
            if not abs(bias) <= GREATEST_BIAS:
                raise ValueError(
                    f"logit_bias: must be at least -{GREATEST_BIAS} and at most {GREATEST_BIAS}, "
                    f"not {bias} (of token {token})"
                )
        ids, biases = np.zeros(most, np.int32), np.zeros(most, np.float32)
        ids[: len(given)], biases[: len(given)] = list(given), list(given.values())
        return ids, biases

    def end(self, number: int) -> None:
        """Ends a text, and so frees its slot.

        Args:
            number: Number that `join` returned. One that has ended is not there any more.
        """
        self._held = [None if each and each.so_far.number == number else each for each in self._held]

    def step(self) -> list[SlotText]:
        """Writes a token of each text, and returns the texts. Those that have ended leave their slots."""
        self._fill_mask()
        stuck = [not row.any() for row in self._mask]
        # They take no part.
        self._mask[stuck] = -1
        active = [held is not None and not is_stuck for held, is_stuck in zip(self._held, stuck)]
        found = self._ask(step_request(self.described, active=active, **self._step_inputs()))
        for slot, held in enumerate(self._held):
            if held is not None:
                of_slot = {name: values[slot] for name, values in found.items()}
                so_far = held.so_far._replace(ended=STUCK) if stuck[slot] else _further(held, of_slot)
                self._held[slot] = held._replace(so_far=so_far)
        written = self._with_texts([each for each in self._held if each is not None])
        self._held = [None if each and each.so_far.ended else each for each in self._held]
        return written

    def _fill_mask(self) -> None:
        matchers = [None if each is None else each.matcher for each in self._held]
        if not any(matchers):
            self._mask[:] = -1
            return
        try:
            fill_masks(matchers, self._mask)
        except ConstraintError:
            # One of them cannot be followed within the limits; the others can.
            for row, matcher in zip(self._mask, matchers):
                if matcher is not None:
                    _fill_row(matcher, row)

    def _step_inputs(self) -> dict[str, Any]:
        parameters, no_bias = self.described["parameters"], np.zeros(self.described.get("biases", 0))
        return {
            "mask": self._mask,
            **{
                name: np.stack([no_bias if held is None else getattr(held, name) for held in self._held])
                for name in ("bias_ids", "biases")
            },
            **{
                name: [each["default"] if held is None else held.values[name][0] for held in self._held]
                for name, each in parameters.items()
            },
        }

    def _with_texts(self, held: Sequence[_Held]) -> list[SlotText]:
        if not held:
            return []
        texts = self._detokenized([each.ids for each in held], [each.so_far.ids for each in held])
        return [
            # A character of which not all bytes are there is held back while the text is written.
            one.so_far._replace(text=_shown(text if one.so_far.ended else text.rstrip(_UNFINISHED), one))
            for one, text in zip(held, texts)
        ]

    def _detokenized(self, prompts: Sequence[Any], written: Sequence[Any]) -> list[str]:
        (prompt_ids, prompt_length), (ids, length) = _rows(prompts), _rows(written)
        asked = {"prompt_ids": prompt_ids, "prompt_length": prompt_length, "ids": ids, "length": length}
        return [each.decode() for each in self.loaded.run("detokenize", asked)["generated"]]

    def _ask(self, request: Request) -> dict[str, npt.NDArray[Any]]:
        return self.loaded.run(request.signature, request.inputs)


def _fill_row(matcher: Matcher, row: npt.NDArray[np.int32]) -> None:
    try:
        matcher.write_mask(row)
    except ConstraintError:
        row[:] = 0


def _shown(text: str, held: _Held) -> str:
    # Pieces carry a space, which is no part of a value.
    return text if held.matcher is None else text.removeprefix(" ")


def _further(held: _Held, found: Mapping[str, npt.NDArray[Any]]) -> SlotText:
    """Returns a text after a step that gave these outputs for its slot."""
    text, ended, complete = held.so_far, _ENDED[found["ended"]], None
    ids = text.ids if ended == END else (*text.ids, int(found["token"]))
    if held.matcher is not None:
        complete = ended == END
        try:
            if not complete:
                held.matcher.accept(int(found["token"]))
        except ConstraintError:
            # It cannot be followed within the limits, which ends this text alone.
            ended = STUCK
    scores = (*text.log_probabilities, float(found["log_probability"]))
    likeliest = (found[each].tolist() for each in ("top_ids", "top_log_probabilities") if each in found)
    return text._replace(
        ids=ids,
        log_probabilities=scores,
        ended=ended,
        top=(*text.top, tuple(zip(*likeliest))),
        complete=complete,
    )


def _rows(ids: Sequence[Any]) -> tuple[npt.NDArray[np.int32], list[int]]:
    """Returns tokens as rows that are padded to the longest, and their numbers."""
    lengths = [len(each) for each in ids]
    rows = np.zeros((len(ids), max(lengths)), np.int32)
    for row, each in zip(rows, ids):
        row[: len(each)] = each
    return rows, lengths
